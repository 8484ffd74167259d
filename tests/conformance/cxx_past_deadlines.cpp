// The timed calls of C++ with a deadline that has passed, in loops until another thread has done its
// part (past_deadlines.c).
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

#include "check.h"

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::steady_clock::time_point kPast{};
constexpr std::chrono::system_clock::time_point kLongAgo{};

// The other thread waits for the mutex, which only the waits release.
template <class Wait>
void wait_by(Wait wait) {
  std::mutex mutex;
  bool done = false;
  std::unique_lock lock(mutex);
  std::thread other([&] {
    std::lock_guard guard(mutex);
    done = true;
  });
  while (!done) wait(lock);
  lock.unlock();
  other.join();
}

template <class Try>
void try_by(Try attempt) {
  std::atomic<bool> done = false;
  std::thread other([&] { done = true; });
  while (!done) attempt();
  other.join();
}

}  // namespace

CASE(condition_variable, wait_for_no_time) {
  std::condition_variable condition;
  wait_by([&](auto& lock) { condition.wait_for(lock, 0s); });
}
CASE(condition_variable, wait_for_negative_time) {
  std::condition_variable condition;
  wait_by([&](auto& lock) { condition.wait_for(lock, -5s); });
}
CASE(condition_variable, wait_until_past) {
  std::condition_variable condition;
  wait_by([&](auto& lock) { condition.wait_until(lock, kPast); });
  wait_by([&](auto& lock) { condition.wait_until(lock, kLongAgo); });
}
CASE(condition_variable_any, wait_until_past) {
  std::condition_variable_any condition;
  wait_by([&](auto& lock) { condition.wait_for(lock, 0s); });
  wait_by([&](auto& lock) { condition.wait_until(lock, kPast); });
}
CASE(counting_semaphore, try_acquire_until_past) {
  std::counting_semaphore<> semaphore(0);
  std::thread other([&] { semaphore.release(2); });
  while (!semaphore.try_acquire_until(kPast)) {
  }
  while (!semaphore.try_acquire_for(0s)) {
  }
  other.join();
}
CASE(future, wait_for_no_time) {
  auto future = std::async(std::launch::async, [] { return 1; });
  while (future.wait_for(0s) != std::future_status::ready) {
  }
  EXPECT_EQ(future.get(), 1);
}
CASE(timed_mutex, try_lock_until_past) {
  std::timed_mutex mutex;
  try_by([&] {
    if (mutex.try_lock_until(kPast)) mutex.unlock();
  });
}
CASE(shared_timed_mutex, try_lock_until_past) {
  std::shared_timed_mutex mutex;
  try_by([&] {
    if (mutex.try_lock_shared_until(kPast)) mutex.unlock_shared();
    if (mutex.try_lock_for(0s)) mutex.unlock();
  });
}
CASE(this_thread, sleep_until_past) {
  try_by([] { std::this_thread::sleep_until(kPast); });
  try_by([] { std::this_thread::sleep_for(0s); });
}
