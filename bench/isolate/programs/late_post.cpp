// A pool whose client waits for an answer with a time-out. After a time-out it stops the pool and posts
// a last task, to clean up: the workers have gone, and nobody runs it.
// ROOT CAUSE: late_post.cpp:94; KIND: order-violation
// PREEMPTIONS: 0
// CHOICES: 2 (the time-out, and that its thread runs at once)
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  }

  void post(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      ++posted_;
    }
    changed_.notify_one();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  bool all_were_run() {
    const std::lock_guard lock(mutex_);
    return run_ == posted_;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      // Now and then a worker that has nothing to do looks whether it is still needed.
      if (!changed_.wait_for(lock, 20ms, [this] { return stopping_ || !tasks_.empty(); })) continue;
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      ++run_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> workers_;
  int posted_ = 0;
  int run_ = 0;
  bool stopping_ = false;
};

struct Answer {
  std::mutex mutex;
  std::condition_variable changed;
  int parts = 0;
};

int main() {
  Answer answer;
  std::atomic<bool> cleaned = false;
  Pool pool(2);
  for (int i = 0; i < 3; ++i)
    pool.post([&] {
      const std::lock_guard lock(answer.mutex);
      ++answer.parts;
      answer.changed.notify_one();
    });
  std::unique_lock lock(answer.mutex);
  const bool complete = answer.changed.wait_for(lock, 100ms, [&] { return answer.parts == 3; });
  lock.unlock();
#ifndef FIXED
  if (!complete) pool.stop();
  pool.post([&] { cleaned = true; });
  if (complete) pool.stop();
#else
  (void)complete;
  pool.post([&] { cleaned = true; });
  pool.stop();
#endif
  assert(cleaned && pool.all_were_run());
}
