// Remote calls whose promise is set by the reply or by the deadline: both find the call not done, and the second set_value throws inside the library.
// ROOT CAUSE: reply_promise.cpp:20, reply_promise.cpp:21; KIND: data-race or atomicity-violation
#include <chrono>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

class Call {
 public:
  explicit Call(int id) : id_(id) {}
  std::future<std::string> result() { return promise_.get_future(); }
  bool complete(const std::string& value) {
#ifdef FIXED
    std::lock_guard lock(mutex_);
#endif
    if (done_) return false;
    done_ = true;
    promise_.set_value(value);
    return true;
  }
  int id() const { return id_; }

 private:
  int id_;
  bool done_ = false;
  std::mutex mutex_;
  std::promise<std::string> promise_;
};

class Client {
 public:
  std::shared_ptr<Call> start(int id) {
    auto call = std::make_shared<Call>(id);
    std::lock_guard lock(mutex_);
    open_[id] = call;
    return call;
  }
  void on_reply(int id, const std::string& text) {
    if (auto call = find(id)) {
      call->complete(text);
      forget(id);
    }
  }
  void on_deadline(int id) {
    if (auto call = find(id)) {
      call->complete("timed out");
      forget(id);
    }
  }

 private:
  std::shared_ptr<Call> find(int id) {
    std::lock_guard lock(mutex_);
    auto found = open_.find(id);
    return found == open_.end() ? nullptr : found->second;
  }
  void forget(int id) {
    std::lock_guard lock(mutex_);
    open_.erase(id);
  }
  std::mutex mutex_;
  std::map<int, std::shared_ptr<Call>> open_;
};

int main() {
  Client client;
  for (int id = 1; id <= 2; id++) {
    auto call = client.start(id);
    auto future = call->result();
    std::thread network([&] { client.on_reply(id, "reply " + std::to_string(id)); });
    std::thread timer([&] { client.on_deadline(id); });
    std::string text = future.get();
    network.join();
    timer.join();
    std::printf("call %d: %s\n", call->id(), text.c_str());
  }
}
