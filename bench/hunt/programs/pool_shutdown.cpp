// A pool's shutdown: workers end when `stopping` is set and the queue is empty. A task that is
// posted by another thread after they have looked is never run, although the post was accepted.
// ROOT CAUSE: pool_shutdown.cpp:27; KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; i++) workers_.emplace_back([this] { work(); });
  }

  bool post(std::function<void()> task) {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
#else
    if (stopping_) return false;
    // A stop in between is not seen.
    std::lock_guard lock(mutex_);
#endif
    tasks_.push_back(std::move(task));
    changed_.notify_one();
    return true;
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> workers_;
};

int main(int argc, char** argv) {
  int workers = argc > 1 ? std::atoi(argv[1]) : 2;
  int tasks = argc > 2 ? std::atoi(argv[2]) : 3;
  std::atomic<int> accepted = 0;
  std::atomic<int> run = 0;
  Pool pool(workers);
  std::thread poster([&] {
    for (int i = 0; i < tasks; i++)
      if (pool.post([&] { run++; })) accepted++;
  });
  pool.stop();
  poster.join();
  assert(run == accepted);
  return 0;
}
