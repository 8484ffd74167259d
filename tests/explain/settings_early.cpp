// A service whose modules read their settings when they start. The loader thread publishes the settings in two steps; a module
// that starts in between takes a default that the loader is about to replace, hands it on, and a third module notices.
// ROOT CAUSE: settings_early.cpp:61 (said to be loaded before the limits are), settings_early.cpp:63; KIND: order-violation
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

class Settings {
 public:
  void set(const std::string& name, int value) {
    std::lock_guard<std::mutex> lock(mutex_);
    values_[name] = value;
  }
  int get(const std::string& name, int otherwise) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> values_;
};

class Loader {
 public:
  explicit Loader(Settings& settings) : settings_(settings) {}

  void start() {
    thread_ = std::thread([this] { load(); });
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!loaded_) changed_.wait(lock);
  }
  void join() { thread_.join(); }

 private:
  void load() {
    load_names();
    announce();
  }
  void load_names() {
    settings_.set("port", 8080);
    settings_.set("workers", 2);
  }
  void load_limits() { settings_.set("queue", 16); }

  void announce() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      loaded_ = true;
      changed_.notify_all();
    }
    load_limits();
  }

  Settings& settings_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool loaded_ = false;
  std::thread thread_;
};

struct Task {
  int number = 0;
};

class Queue {
 public:
  explicit Queue(int limit) : limit_(limit) {}
  bool push(Task task) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (static_cast<int>(tasks_.size()) >= limit_) return false;
    tasks_.push_back(task);
    return true;
  }
  int size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int>(tasks_.size());
  }

 private:
  std::mutex mutex_;
  int limit_;
  std::vector<Task> tasks_;
};

// Makes queues for whoever needs one.
class Dispatcher {
 public:
  explicit Dispatcher(Settings& settings) : limit_(settings.get("queue", 1)) {}
  Queue make_queue() const { return Queue(limit_ / share_); }
  void set_share(int share) { share_ = share; }

 private:
  int limit_;
  int share_ = 1;
};

class Acceptor {
 public:
  explicit Acceptor(Queue& queue) : queue_(queue) {}
  void accept(int count) {
    for (int i = 0; i < count; i++) {
      if (queue_.push({i}))
        accepted_++;
      else
        refused_++;
    }
  }
  int accepted() const { return accepted_; }
  int refused() const { return refused_; }

 private:
  Queue& queue_;
  int accepted_ = 0;
  int refused_ = 0;
};

class Service {
 public:
  explicit Service(Settings& settings) : settings_(settings) {}
  int run(int requests) {
    Dispatcher dispatcher(settings_);
    dispatcher.set_share(1);
    Queue queue = make_queue(dispatcher);
    Acceptor acceptor(queue);
    std::thread first([&] { acceptor.accept(requests); });
    first.join();
    return acceptor.refused();
  }

 private:
  static Queue make_queue(const Dispatcher& dispatcher) { return dispatcher.make_queue(); }
  Settings& settings_;
};

}  // namespace

int main() {
  Settings settings;
  Loader loader(settings);
  loader.start();
  loader.wait();
  Service service(settings);
  const int refused = service.run(4);
  loader.join();
  std::printf("%d requests refused\n", refused);
  assert(refused == 0);
  return 0;
}
