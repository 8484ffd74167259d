// <mutex>: the mutexes, the locks, std::lock and std::try_lock, std::call_once.
#include <array>
#include <mutex>
#include <vector>

#include "cxx_help.h"

namespace {

template <typename Mutex>
bool free_for_others(Mutex& mutex) {
  return in_thread([&] {
    if (!mutex.try_lock()) return false;
    mutex.unlock();
    return true;
  });
}

template <typename Mutex>
void expect_mutex() {
  Mutex mutex;
  EXPECT(free_for_others(mutex));
  mutex.lock();
  EXPECT(!free_for_others(mutex));
  mutex.unlock();
  EXPECT(mutex.try_lock());
  EXPECT(!free_for_others(mutex));
  mutex.unlock();
  EXPECT(free_for_others(mutex));
  int counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        std::lock_guard guard(mutex);
        ++counter;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 200);
}

CASE(std_mutex, excludes) { expect_mutex<std::mutex>(); }
CASE(std_recursive_mutex, excludes) { expect_mutex<std::recursive_mutex>(); }
CASE(std_timed_mutex, excludes) { expect_mutex<std::timed_mutex>(); }
CASE(std_recursive_timed_mutex, excludes) { expect_mutex<std::recursive_timed_mutex>(); }

template <typename Mutex>
void expect_recursion() {
  Mutex mutex;
  mutex.lock();
  EXPECT(mutex.try_lock());
  mutex.lock();
  for (int i = 0; i < 3; ++i) {
    EXPECT(!free_for_others(mutex));
    mutex.unlock();
  }
  EXPECT(free_for_others(mutex));
}

CASE(std_recursive_mutex, counts) { expect_recursion<std::recursive_mutex>(); }
CASE(std_recursive_timed_mutex, counts) { expect_recursion<std::recursive_timed_mutex>(); }

CASE(std_mutex, native_handle) {
  std::mutex mutex;
  mutex.lock();
  EXPECT_EQ(pthread_mutex_trylock(mutex.native_handle()), EBUSY);
  mutex.unlock();
}

template <typename Mutex>
void expect_timed() {
  Mutex mutex;
  EXPECT(mutex.try_lock_for(kLong));
  EXPECT(!in_thread([&] { return mutex.try_lock_for(kShort); }));
  EXPECT(!in_thread([&] {
    auto until = std::chrono::steady_clock::now() + kShort;
    bool taken = mutex.try_lock_until(until);
    EXPECT(std::chrono::steady_clock::now() >= until);
    return taken;
  }));
  EXPECT(
      !in_thread([&] { return mutex.try_lock_until(std::chrono::system_clock::now() + kShort); }));
  EXPECT(!in_thread([&] { return mutex.try_lock_for(-1s); }));
  bool taken = false;
  std::thread thread([&] {
    taken = mutex.try_lock_for(kLong);
    if (taken) mutex.unlock();
  });
  nap();
  mutex.unlock();
  thread.join();
  EXPECT(taken);
}

CASE(std_timed_mutex, times) { expect_timed<std::timed_mutex>(); }
CASE(std_recursive_timed_mutex, times) { expect_timed<std::recursive_timed_mutex>(); }

CASE(std_lock_guard, adopts_and_unlocks) {
  std::mutex mutex;
  mutex.lock();
  {
    std::lock_guard guard(mutex, std::adopt_lock);
    EXPECT(!free_for_others(mutex));
  }
  EXPECT(free_for_others(mutex));
  try {
    std::lock_guard guard(mutex);
    throw 1;
  } catch (int) {
  }
  EXPECT(free_for_others(mutex));
}

CASE(std_unique_lock, constructors) {
  std::mutex mutex;
  {
    std::unique_lock lock(mutex);
    EXPECT(lock.owns_lock() && lock && lock.mutex() == &mutex);
    EXPECT(!free_for_others(mutex));
  }
  std::unique_lock<std::mutex> none;
  EXPECT(!none && none.mutex() == nullptr);
  std::unique_lock deferred(mutex, std::defer_lock);
  EXPECT(!deferred.owns_lock());
  deferred.lock();
  EXPECT(!in_thread([&] { return std::unique_lock(mutex, std::try_to_lock).owns_lock(); }));
  deferred.unlock();
  EXPECT(in_thread([&] { return std::unique_lock(mutex, std::try_to_lock).owns_lock(); }));
  mutex.lock();
  EXPECT(std::unique_lock(mutex, std::adopt_lock).owns_lock());
  EXPECT(free_for_others(mutex));
}

CASE(std_unique_lock, moves_and_releases) {
  std::mutex mutex;
  std::unique_lock first(mutex);
  std::unique_lock second(std::move(first));
  EXPECT(!first.owns_lock() && second.owns_lock());
  first = std::move(second);
  EXPECT(first.owns_lock());
  first.swap(second);
  EXPECT(second.owns_lock());
  EXPECT(second.release() == &mutex);
  EXPECT(!second.owns_lock());
  EXPECT(!free_for_others(mutex));
  mutex.unlock();
}

CASE(std_unique_lock, errors) {
  using std::errc;
  std::timed_mutex mutex;
  std::unique_lock<std::timed_mutex> none;
  EXPECT(throws_error(errc::operation_not_permitted, [&] { none.lock(); }));
  EXPECT(throws_error(errc::operation_not_permitted, [&] { none.unlock(); }));
  EXPECT(throws_error(errc::operation_not_permitted, [&] { (void)none.try_lock(); }));
  EXPECT(throws_error(errc::operation_not_permitted, [&] { (void)none.try_lock_for(1ms); }));
  std::unique_lock lock(mutex);
  EXPECT(throws_error(errc::resource_deadlock_would_occur, [&] { lock.lock(); }));
  EXPECT(throws_error(errc::resource_deadlock_would_occur, [&] { (void)lock.try_lock(); }));
  EXPECT(throws_error(errc::resource_deadlock_would_occur, [&] { (void)lock.try_lock_for(1ms); }));
  lock.unlock();
  EXPECT(throws_error(errc::operation_not_permitted, [&] { lock.unlock(); }));
}

CASE(std_unique_lock, times) {
  std::timed_mutex mutex;
  std::unique_lock lock(mutex, kLong);
  EXPECT(lock.owns_lock());
  EXPECT(!in_thread([&] { return std::unique_lock(mutex, kShort).owns_lock(); }));
  EXPECT(!in_thread([&] {
    return std::unique_lock(mutex, std::chrono::steady_clock::now() + kShort).owns_lock();
  }));
  EXPECT(!in_thread([&] {
    std::unique_lock other(mutex, std::defer_lock);
    return other.try_lock() || other.try_lock_for(kShort) ||
           other.try_lock_until(std::chrono::system_clock::now() + kShort);
  }));
  lock.unlock();
  EXPECT(lock.try_lock_for(kShort));
  lock.unlock();
  EXPECT(lock.try_lock());
}

CASE(std_lock, takes_all_in_any_order) {
  std::mutex a, b, c;
  int counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        if (i % 2) {
          std::lock(a, b, c);
        } else {
          std::lock(c, b, a);
        }
        ++counter;
        a.unlock();
        b.unlock();
        c.unlock();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 80);
}

CASE(std_try_lock, index_of_the_one_that_failed) {
  std::mutex a, b, c;
  EXPECT_EQ(std::try_lock(a, b, c), -1);
  EXPECT_EQ(in_thread([&] { return std::try_lock(a, b, c); }), 0);
  a.unlock();
  EXPECT_EQ(in_thread([&] { return std::try_lock(a, b, c); }), 1);
  EXPECT(free_for_others(a));
  b.unlock();
  EXPECT_EQ(in_thread([&] { return std::try_lock(a, b, c); }), 2);
  EXPECT(free_for_others(a) && free_for_others(b));
  c.unlock();
}

CASE(std_scoped_lock, takes_all) {
  std::mutex a, b;
  int counter = 0;
  auto work = [&](std::mutex& first, std::mutex& second) {
    for (int i = 0; i < 30; ++i) {
      std::scoped_lock lock(first, second);
      ++counter;
    }
  };
  std::thread other([&] { work(b, a); });
  work(a, b);
  other.join();
  EXPECT_EQ(counter, 60);
  {
    [[maybe_unused]] std::scoped_lock<> none;
  }
  a.lock();
  {
    std::scoped_lock lock(std::adopt_lock, a);
  }
  EXPECT(free_for_others(a) && free_for_others(b));
}

CASE(std_call_once, runs_once) {
  std::once_flag flag;
  int ran = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      std::call_once(
          flag,
          [&](int amount) {
            nap();
            ran += amount;
          },
          1);
      EXPECT_EQ(ran, 1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 1);
}

CASE(std_call_once, again_after_an_exception) {
  std::once_flag flag;
  int ran = 0;
  int thrown = 0;
  for (int i = 0; i < 4; ++i) {
    try {
      std::call_once(flag, [&] {
        if (++ran < 3) throw ran;
      });
    } catch (int) {
      ++thrown;
    }
  }
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(thrown, 2);
}

int initialised;
int initialise() {
  nap();
  return ++initialised;
}

int& local_static() {
  static int value = initialise();
  return value;
}

CASE(local_static, initialised_once) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { EXPECT_EQ(local_static(), 1); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(initialised, 1);
}

}  // namespace
