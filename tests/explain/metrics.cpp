// Counters by name, looked up under the shared lock and inserted under the exclusive one without looking again: of two counters made for one name the
// first is lost with its counts.
// ROOT CAUSE: metrics.cpp:52, metrics.cpp:60; KIND: atomicity-violation
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace metrics {

class Counter {
 public:
  explicit Counter(std::string name) : name_(std::move(name)) {}
  void add(long n) { value_.fetch_add(n, std::memory_order_relaxed); }
  long value() const { return value_.load(std::memory_order_relaxed); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::atomic<long> value_{0};
};

class Registry {
 public:
  static Registry& global();
  std::shared_ptr<Counter> counter(const std::string& name);
  std::vector<std::pair<std::string, long>> snapshot() const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<Counter>> counters_;
};

}  // namespace metrics

namespace metrics {

Registry& Registry::global() {
  static Registry registry;
  return registry;
}

std::shared_ptr<Counter> Registry::counter(const std::string& name) {
  {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    auto found = counters_.find(name);
    if (found != counters_.end()) return found->second;
  }
  auto made = std::make_shared<Counter>(name);
  std::unique_lock<std::shared_mutex> lock(mutex_);
#ifdef FIXED
  return counters_.try_emplace(name, made).first->second;
#else
  counters_[name] = made;
  return made;
#endif
}

std::vector<std::pair<std::string, long>> Registry::snapshot() const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  std::vector<std::pair<std::string, long>> values;
  for (const auto& [name, counter] : counters_) values.emplace_back(name, counter->value());
  return values;
}

}  // namespace metrics

namespace {

struct Request {
  std::string path;
  int bytes;
};

std::vector<Request> requests_of(int client) {
  return {{"/index", 100 + client}, {"/image", 2000}, {"/index", 120}};
}

class Handler {
 public:
  void handle(const Request& request) {
    auto hits = metrics::Registry::global().counter("hits" + request.path);
    hits->add(1);
    auto bytes = metrics::Registry::global().counter("bytes");
    bytes->add(request.bytes);
  }
};

void client(int number) {
  Handler handler;
  for (const Request& request : requests_of(number)) handler.handle(request);
}

void audit(int clients) {
  long hits = 0;
  for (const auto& [name, value] : metrics::Registry::global().snapshot())
    if (name.rfind("hits/", 0) == 0) hits += value;
  if (hits != 3L * clients)
    throw std::runtime_error("counted " + std::to_string(hits) + " of " +
                             std::to_string(3 * clients) + " requests");
}

}  // namespace

int main() {
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; i++) clients.emplace_back(client, i);
  for (auto& one : clients) one.join();
  audit(2);
  std::puts("audited");
}
