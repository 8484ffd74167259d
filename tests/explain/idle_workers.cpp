// The listener of a server waits until a worker is idle before it accepts, in the manner of Apache's event MPM (bug 45605). The count of idle workers is tested
// without the lock under which it is changed, and a worker that is told to go away still counts as idle.
// ROOT CAUSE: idle_workers.cpp:29 (tested without the lock), idle_workers.cpp:31 (taken later); KIND: atomicity-violation or data-race
// SAYS: idle_
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class IdleWorkers {
 public:
  explicit IdleWorkers(int count) : idle_(count) {}

  // Whether a worker was reserved.
  bool reserve() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    if (idle_.load() == 0) return false;
    idle_.fetch_sub(1);
    return true;
#else
    if (idle_.load() == 0) return false;
    std::lock_guard lock(mutex_);
    const int before = idle_.fetch_sub(1);
    check(before);
    return true;
#endif
  }

  void release() {
    std::lock_guard lock(mutex_);
    idle_.fetch_add(1);
  }

 private:
  static void check(int before) {
    if (before > 0) return;
    std::fprintf(stderr, "no worker is idle, and one was reserved\n");
    std::abort();
  }

  std::mutex mutex_;
  std::atomic<int> idle_;
};

struct Connection {
  int id = 0;
  int bytes = 0;
};

class ConnectionQueue {
 public:
  void push(const Connection& connection) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(connection);
    arrived_.notify_one();
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_all();
  }
  bool pop(Connection& connection) {
    std::unique_lock lock(mutex_);
    while (waiting_.empty() && !closed_) arrived_.wait(lock);
    if (waiting_.empty()) return false;
    connection = waiting_.front();
    waiting_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Connection> waiting_;
  bool closed_ = false;
};

class Server {
 public:
  explicit Server(int workers) : idle_(workers) {
    for (int i = 0; i < workers; i++) threads_.emplace_back([this] { work(); });
  }
  ~Server() {
    queue_.close();
    for (std::thread& thread : threads_) thread.join();
  }

  // A listener: of each port there is one.
  void listen(const std::vector<Connection>& connections) {
    for (const Connection& connection : connections) {
      if (idle_.reserve())
        queue_.push(connection);
      else
        refused_.fetch_add(1);
    }
  }

  int served() const { return served_.load(); }
  int refused() const { return refused_.load(); }

 private:
  void work() {
    Connection connection;
    while (queue_.pop(connection)) {
      bytes_.fetch_add(connection.bytes);
      served_.fetch_add(1);
      idle_.release();
    }
  }

  IdleWorkers idle_;
  ConnectionQueue queue_;
  std::atomic<int> served_{0}, refused_{0}, bytes_{0};
  std::vector<std::thread> threads_;
};

}  // namespace

int main() {
  Server server(1);
  std::thread plain([&] { server.listen({{1, 100}}); });
  std::thread secure([&] { server.listen({{2, 200}}); });
  plain.join();
  secure.join();
  std::printf("%d refused\n", server.refused());
  return 0;
}
