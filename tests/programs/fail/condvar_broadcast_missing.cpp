// The gate is opened for everybody but only one of the waiters is notified. If two are already
// waiting, the other one is never woken.
// ROOT CAUSE: condvar_broadcast_missing.cpp:24; KIND: lost-wakeup
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    while (!open_) opened_.wait(lock);
    passed_++;
  }

  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_one();
  }

  int passed() {
    std::lock_guard lock(mutex_);
    return passed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  int passed_ = 0;
};

static Gate gate;

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 2;
  std::vector<std::thread> visitors;
  for (int i = 0; i < count; i++) visitors.emplace_back([] { gate.pass(); });
  gate.open();
  for (std::thread& visitor : visitors) visitor.join();
  std::printf("%d of %d passed\n", gate.passed(), count);
  return gate.passed() == count ? 0 : 1;
}
