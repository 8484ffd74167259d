// <condition_variable>: std::condition_variable, std::condition_variable_any,
// std::notify_all_at_thread_exit.
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "cxx_help.h"

namespace {

template <typename Condition, typename Mutex>
void expect_ping_pong() {
  Mutex mutex;
  Condition condition;
  int turn = 0;
  auto play = [&](int me) {
    for (int i = 0; i < 10; ++i) {
      std::unique_lock lock(mutex);
      condition.wait(lock, [&] { return turn % 2 == me; });
      ++turn;
      condition.notify_all();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn, 20);
}

CASE(std_condition_variable, ping_pong) { expect_ping_pong<std::condition_variable, std::mutex>(); }
CASE(std_condition_variable_any, ping_pong) {
  expect_ping_pong<std::condition_variable_any, std::mutex>();
  expect_ping_pong<std::condition_variable_any, std::recursive_mutex>();
  expect_ping_pong<std::condition_variable_any, std::shared_mutex>();
}

template <typename Condition>
void expect_notify() {
  std::mutex mutex;
  Condition condition;
  int waiting = 0;
  int tokens = 0;
  int woken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      ++waiting;
      while (tokens == 0) condition.wait(lock);
      --tokens;
      ++woken;
    });
  auto give = [&](int count) {
    for (;;) {
      std::unique_lock lock(mutex);
      if (waiting == 3) {
        tokens = count;
        if (count == 1) {
          condition.notify_one();
        } else {
          condition.notify_all();
        }
        return;
      }
      lock.unlock();
      std::this_thread::sleep_for(1ms);
    }
  };
  give(1);
  for (bool taken = false; !taken; std::this_thread::sleep_for(1ms)) {
    std::lock_guard lock(mutex);
    taken = woken == 1;
  }
  give(2);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, 3);
  EXPECT_EQ(tokens, 0);
}

CASE(std_condition_variable, notify) { expect_notify<std::condition_variable>(); }
CASE(std_condition_variable_any, notify) { expect_notify<std::condition_variable_any>(); }

template <typename Condition>
void expect_timeouts() {
  std::mutex mutex;
  Condition condition;
  std::unique_lock lock(mutex);
  auto steady = std::chrono::steady_clock::now() + kShort;
  while (condition.wait_until(lock, steady) == std::cv_status::no_timeout) {
  }
  EXPECT(std::chrono::steady_clock::now() >= steady);
  auto system = std::chrono::system_clock::now() + kShort;
  while (condition.wait_until(lock, system) == std::cv_status::no_timeout) {
  }
  EXPECT(std::chrono::system_clock::now() >= system);
  while (condition.wait_for(lock, kShort) == std::cv_status::no_timeout) {
  }
  while (condition.wait_for(lock, -1s) == std::cv_status::no_timeout) {
  }
  EXPECT(!condition.wait_for(lock, kShort, [] { return false; }));
  EXPECT(
      !condition.wait_until(lock, std::chrono::steady_clock::now() + kShort, [] { return false; }));
  EXPECT(condition.wait_for(lock, 0s, [] { return true; }));
  EXPECT(lock.owns_lock());
  EXPECT(!in_thread([&] { return mutex.try_lock(); }));
}

CASE(std_condition_variable, timeouts) { expect_timeouts<std::condition_variable>(); }
CASE(std_condition_variable_any, timeouts) { expect_timeouts<std::condition_variable_any>(); }

template <typename Condition>
void expect_woken_in_time() {
  std::mutex mutex;
  Condition condition;
  bool ready = false;
  std::unique_lock lock(mutex);
  std::thread other([&] {
    std::lock_guard guard(mutex);
    ready = true;
    condition.notify_one();
  });
  EXPECT(condition.wait_for(lock, kLong, [&] { return ready; }));
  lock.unlock();
  other.join();
  ready = false;
  lock.lock();
  other = std::thread([&] {
    std::lock_guard guard(mutex);
    ready = true;
    condition.notify_all();
  });
  EXPECT(
      condition.wait_until(lock, std::chrono::system_clock::now() + kLong, [&] { return ready; }));
  lock.unlock();
  other.join();
}

CASE(std_condition_variable, woken_in_time) { expect_woken_in_time<std::condition_variable>(); }
CASE(std_condition_variable_any, woken_in_time) {
  expect_woken_in_time<std::condition_variable_any>();
}

CASE(std_condition_variable, native_handle) {
  std::condition_variable condition;
  EXPECT_EQ(pthread_cond_signal(condition.native_handle()), 0);
}

// An exception from the predicate leaves the wait with the lock held.
CASE(std_condition_variable, predicate_throws) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  bool caught = false;
  try {
    condition.wait(lock, []() -> bool { throw 1; });
  } catch (int) {
    caught = true;
  }
  EXPECT(caught && lock.owns_lock());
}

int* destroyed;
struct Noted {
  ~Noted() { *destroyed = 1; }
  void touch() {}
};
thread_local Noted of_thread;

// Notified after the thread's thread_local objects have been destroyed.
CASE(std_notify_all_at_thread_exit, after_thread_locals) {
  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false;
  int flag = 0;
  destroyed = &flag;
  std::thread thread([&] {
    std::unique_lock lock(mutex);
    of_thread.touch();
    ready = true;
    std::notify_all_at_thread_exit(condition, std::move(lock));
    EXPECT(!lock.owns_lock());
  });
  {
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return ready; });
    EXPECT_EQ(flag, 1);
  }
  thread.join();
}

CASE(std_condition_variable_any, shared_lock) {
  std::shared_mutex mutex;
  std::condition_variable_any condition;
  bool ready = false;
  int woken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      std::shared_lock lock(mutex);
      condition.wait(lock, [&] { return ready; });
      __atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST);
    });
  {
    std::unique_lock lock(mutex);
    ready = true;
  }
  condition.notify_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, 2);
}

}  // namespace
