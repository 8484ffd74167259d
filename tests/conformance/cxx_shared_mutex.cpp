// <shared_mutex>: std::shared_mutex, std::shared_timed_mutex, std::shared_lock.
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "cxx_help.h"

namespace {

template <typename Mutex>
bool writable(Mutex& mutex) {
  return in_thread([&] {
    if (!mutex.try_lock()) return false;
    mutex.unlock();
    return true;
  });
}

template <typename Mutex>
bool readable(Mutex& mutex) {
  return in_thread([&] {
    if (!mutex.try_lock_shared()) return false;
    mutex.unlock_shared();
    return true;
  });
}

template <typename Mutex>
void expect_modes() {
  Mutex mutex;
  EXPECT(writable(mutex) && readable(mutex));
  mutex.lock_shared();
  EXPECT(!writable(mutex) && readable(mutex));
  mutex.unlock_shared();
  EXPECT(mutex.try_lock_shared());
  EXPECT(!writable(mutex) && readable(mutex));
  mutex.unlock_shared();
  mutex.lock();
  EXPECT(!writable(mutex) && !readable(mutex));
  mutex.unlock();
  EXPECT(mutex.try_lock());
  EXPECT(!writable(mutex) && !readable(mutex));
  mutex.unlock();
  EXPECT(writable(mutex));
}

CASE(std_shared_mutex, modes) { expect_modes<std::shared_mutex>(); }
CASE(std_shared_timed_mutex, modes) { expect_modes<std::shared_timed_mutex>(); }

template <typename Mutex>
void expect_exclusion() {
  Mutex mutex;
  int first = 0;
  int second = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 30; ++round) {
        if (i % 2) {
          std::unique_lock lock(mutex);
          ++first;
          ++second;
        } else {
          std::shared_lock lock(mutex);
          EXPECT(first == second);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, 60);
}

CASE(std_shared_mutex, excludes) { expect_exclusion<std::shared_mutex>(); }
CASE(std_shared_timed_mutex, excludes) { expect_exclusion<std::shared_timed_mutex>(); }

CASE(std_shared_mutex, readers_together) {
  std::shared_mutex mutex;
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      std::shared_lock lock(mutex);
      ++inside;
      while (inside < 3) std::this_thread::sleep_for(1ms);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inside, 3);
}

CASE(std_shared_mutex, edeadlk) {
  std::shared_mutex mutex;
  mutex.lock();
  EXPECT(throws_error(std::errc::resource_deadlock_would_occur, [&] { mutex.lock(); }));
  EXPECT(throws_error(std::errc::resource_deadlock_would_occur, [&] { mutex.lock_shared(); }));
  mutex.unlock();
}

CASE(std_shared_timed_mutex, times) {
  std::shared_timed_mutex mutex;
  EXPECT(mutex.try_lock_for(kLong));
  EXPECT(!in_thread([&] { return mutex.try_lock_for(kShort); }));
  EXPECT(!in_thread([&] { return mutex.try_lock_shared_for(kShort); }));
  EXPECT(!in_thread([&] {
    auto until = std::chrono::steady_clock::now() + kShort;
    bool taken = mutex.try_lock_until(until);
    EXPECT(std::chrono::steady_clock::now() >= until);
    return taken;
  }));
  EXPECT(!in_thread([&] {
    auto until = std::chrono::system_clock::now() + kShort;
    bool taken = mutex.try_lock_shared_until(until);
    EXPECT(std::chrono::system_clock::now() >= until);
    return taken;
  }));
  mutex.unlock();
  EXPECT(mutex.try_lock_shared_for(kShort));
  EXPECT(!in_thread([&] { return mutex.try_lock_for(kShort); }));
  EXPECT(in_thread([&] {
    bool taken = mutex.try_lock_shared_for(kShort);
    if (taken) mutex.unlock_shared();
    return taken;
  }));
  bool taken = false;
  std::thread writer([&] {
    taken = mutex.try_lock_for(kLong);
    if (taken) mutex.unlock();
  });
  nap();
  mutex.unlock_shared();
  writer.join();
  EXPECT(taken);
}

CASE(std_shared_lock, constructors_and_moves) {
  std::shared_timed_mutex mutex;
  std::shared_lock<std::shared_timed_mutex> none;
  EXPECT(!none && none.mutex() == nullptr);
  std::shared_lock lock(mutex);
  EXPECT(lock.owns_lock() && lock.mutex() == &mutex);
  EXPECT(readable(mutex) && !writable(mutex));
  std::shared_lock moved(std::move(lock));
  EXPECT(moved && !lock);
  lock = std::move(moved);
  lock.swap(moved);
  EXPECT(moved && !lock);
  moved.unlock();
  EXPECT(writable(mutex));
  std::shared_lock deferred(mutex, std::defer_lock);
  EXPECT(!deferred);
  EXPECT(deferred.try_lock());
  EXPECT(deferred.release() == &mutex);
  EXPECT(!writable(mutex));
  EXPECT(std::shared_lock(mutex, std::adopt_lock).owns_lock());
  EXPECT(writable(mutex));
  mutex.lock();
  EXPECT(!in_thread([&] { return std::shared_lock(mutex, std::try_to_lock).owns_lock(); }));
  EXPECT(!in_thread([&] { return std::shared_lock(mutex, kShort).owns_lock(); }));
  EXPECT(!in_thread([&] {
    std::shared_lock other(mutex, std::defer_lock);
    return other.try_lock_until(std::chrono::steady_clock::now() + kShort);
  }));
  mutex.unlock();
}

CASE(std_shared_lock, errors) {
  using std::errc;
  std::shared_mutex mutex;
  std::shared_lock<std::shared_mutex> none;
  EXPECT(throws_error(errc::operation_not_permitted, [&] { none.lock(); }));
  EXPECT(throws_error(errc::operation_not_permitted, [&] { (void)none.try_lock(); }));
  EXPECT(throws_error(errc::resource_deadlock_would_occur, [&] { none.unlock(); }));
  std::shared_lock lock(mutex);
  EXPECT(throws_error(errc::resource_deadlock_would_occur, [&] { lock.lock(); }));
  EXPECT(throws_error(errc::resource_deadlock_would_occur, [&] { (void)lock.try_lock(); }));
}

}  // namespace
