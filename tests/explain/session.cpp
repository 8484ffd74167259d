// A file-sharing session in the manner of transmission 1.42: starting the session starts its event thread, which takes peers in and shares the
// bandwidth among them; the bandwidth's accounts are made only after that.
// ROOT CAUSE: session.cpp:135 (the thread is started), session.cpp:138 (before the bandwidth is made); KIND: order-violation
// SAYS: before T0 has (written|set) it at session.cpp
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// How much each child may send in a period; children of children share what their parent has.
class Bandwidth {
 public:
  Bandwidth(std::string name, int limit) : name_(std::move(name)), limit_(limit) {}

  Bandwidth* add_child(const std::string& name) {
    children_.push_back(std::make_unique<Bandwidth>(name, 0));
    children_.back()->parent_ = this;
    return children_.back().get();
  }

  void allocate() {
    left_ = limit_;
    const int share = children_.empty() ? 0 : limit_ / static_cast<int>(children_.size());
    for (const auto& child : children_) {
      child->limit_ = share;
      child->allocate();
    }
  }

  int clamp(int wanted) {
    const int given = wanted < left_ ? wanted : left_;
    left_ -= given;
    if (parent_ != nullptr) parent_->left_ -= given;
    used_ += given;
    return given;
  }

  int used() const { return used_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  int limit_;
  int left_ = 0;
  int used_ = 0;
  Bandwidth* parent_ = nullptr;
  std::vector<std::unique_ptr<Bandwidth>> children_;
};

// A thread that does what others ask it to, in order.
class EventThread {
 public:
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  void stop() {
    post([this] { stopped_ = true; });
    thread_.join();
  }
  void post(std::function<void()> task) {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    ready_.notify_one();
  }
  void each_round(std::function<void()> timer) { timer_ = std::move(timer); }

 private:
  std::function<void()> next() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !tasks_.empty(); });
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }
  void run() {
    while (!stopped_) {
      next()();
      if (timer_ && !stopped_) timer_();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  std::function<void()> timer_;
  std::thread thread_;
  bool stopped_ = false;
};

class Peer {
 public:
  Peer(std::string address, Bandwidth* bandwidth)
      : address_(std::move(address)), bandwidth_(bandwidth) {}
  void want(int bytes) { wanted_ += bytes; }
  void pulse() {
    if (wanted_ == 0) return;
    const int sent = bandwidth_->clamp(wanted_);
    wanted_ -= sent;
    sent_ += sent;
  }
  int sent() const { return sent_; }
  const std::string& address() const { return address_; }

 private:
  std::string address_;
  Bandwidth* bandwidth_;
  int wanted_ = 0;
  int sent_ = 0;
};

struct Settings {
  int speed_limit = 300;
  std::vector<std::string> known_peers;
};

class Session {
 public:
  explicit Session(const Settings& settings) {
    events_.each_round([this] { pulse(); });
#ifdef FIXED
    bandwidth_ = std::make_unique<Bandwidth>("session", settings.speed_limit);
#endif
    load_peers(settings.known_peers);
    events_.start();
    load_statistics();
#ifndef FIXED
    bandwidth_ = std::make_unique<Bandwidth>("session", settings.speed_limit);
#endif
  }
  ~Session() { events_.stop(); }

  void request(const std::string& address, int bytes) {
    events_.post([this, address, bytes] {
      const auto found = peers_.find(address);
      if (found != peers_.end()) found->second->want(bytes);
    });
  }

  int sent() {
    std::mutex mutex;
    std::condition_variable done;
    int result = -1;
    events_.post([&] {
      int sum = 0;
      for (const auto& [address, peer] : peers_) sum += peer->sent();
      std::lock_guard lock(mutex);
      result = sum;
      done.notify_one();
    });
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return result >= 0; });
    return result;
  }

 private:
  void load_peers(const std::vector<std::string>& addresses) {
    for (const std::string& address : addresses)
      events_.post([this, address] {
        Bandwidth* account = bandwidth_->add_child(address);
        peers_[address] = std::make_unique<Peer>(address, account);
      });
  }

  void load_statistics() {
    for (int day = 0; day < 3; day++) uploaded_before_ += 1000 * day;
  }

  void pulse() {
    bandwidth_->allocate();
    for (const auto& [address, peer] : peers_) peer->pulse();
  }

  std::unique_ptr<Bandwidth> bandwidth_;
  std::map<std::string, std::unique_ptr<Peer>> peers_;
  EventThread events_;
  long uploaded_before_ = 0;
};

}  // namespace

int main() {
  Settings settings;
  settings.known_peers = {"10.0.0.1", "10.0.0.2"};
  int sent = 0;
  {
    Session session(settings);
    session.request("10.0.0.1", 100);
    session.request("10.0.0.2", 100);
    sent = session.sent();
  }
  std::printf("%d bytes sent\n", sent);
  return sent == 200 ? 0 : 1;
}
