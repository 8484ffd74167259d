// A configuration that is copied, changed and put in place behind a shared_ptr: two updates that begin with the same configuration lose one. The twin
// exchanges the pointer only if it is still the one that was copied.
// ROOT CAUSE: cow_config.cpp:32, cow_config.cpp:34; KIND: atomicity-violation
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Config {
  std::map<std::string, std::string> values;
  int version = 0;
};

class ConfigStore {
 public:
  ConfigStore() : current_(std::make_shared<const Config>()) {}

  std::shared_ptr<const Config> get() const { return std::atomic_load(&current_); }

  void update(const std::function<void(Config&)>& change) {
#ifdef FIXED
    std::shared_ptr<const Config> old = get();
    std::shared_ptr<const Config> next;
    do {
      next = changed(*old, change);
    } while (!std::atomic_compare_exchange_strong(&current_, &old, next));
#else
    std::shared_ptr<const Config> old = get();
    std::shared_ptr<const Config> next = changed(*old, change);
    std::atomic_store(&current_, next);
#endif
  }

 private:
  static std::shared_ptr<const Config> changed(const Config& old,
                                               const std::function<void(Config&)>& change) {
    auto copy = std::make_shared<Config>(old);
    change(*copy);
    copy->version++;
    return copy;
  }

  std::shared_ptr<const Config> current_;
};

class Admin {
 public:
  Admin(ConfigStore& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {}
  void set(const std::string& key, const std::string& value) {
    store_.update([&](Config& config) { config.values[prefix_ + "." + key] = value; });
    written_++;
  }
  int written() const { return written_; }

 private:
  ConfigStore& store_;
  std::string prefix_;
  int written_ = 0;
};

static void require(const Config& config, const std::string& key) {
  if (config.values.count(key) == 0) {
    std::fprintf(stderr, "%s is not set (version %d)\n", key.c_str(), config.version);
    std::exit(9);
  }
}

int main() {
  ConfigStore store;
  Admin http(store, "http");
  Admin mail(store, "mail");
  std::thread first([&] {
    http.set("port", "80");
    http.set("host", "localhost");
  });
  std::thread second([&] { mail.set("port", "25"); });
  std::thread reader([&] {
    auto seen = store.get();
    if (seen->version > 3) std::abort();
  });
  first.join();
  second.join();
  reader.join();
  auto last = store.get();
  require(*last, "http.port");
  require(*last, "http.host");
  require(*last, "mail.port");
  return 0;
}
