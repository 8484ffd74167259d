// Condition variables: wait, timed wait against both clocks, signal, broadcast,
// condition_variable_any.
// EXPECT: pass
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../check.h"

using namespace std::chrono_literals;

static void test_timeouts() {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  auto start = std::chrono::steady_clock::now();
  CHECK(!never.wait_for(lock, 3ms, [] { return false; }));
  CHECK(std::chrono::steady_clock::now() - start >= 3ms);
  CHECK(lock.owns_lock());

  auto deadline = std::chrono::system_clock::now() + 2ms;
  while (never.wait_until(lock, deadline) != std::cv_status::timeout) {
  }
  CHECK(std::chrono::system_clock::now() >= deadline);
  CHECK(never.wait_for(lock, -1ms) == std::cv_status::timeout);
}

static void test_pthread_clocks() {
  for (clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    pthread_condattr_t attr;
    pthread_cond_t cond;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    clockid_t read_back;
    CHECK(pthread_condattr_init(&attr) == 0);
    CHECK(pthread_condattr_setclock(&attr, clock) == 0);
    CHECK(pthread_condattr_getclock(&attr, &read_back) == 0 && read_back == clock);
    CHECK(pthread_cond_init(&cond, &attr) == 0);
    CHECK(pthread_condattr_destroy(&attr) == 0);

    timespec deadline;
    CHECK(clock_gettime(clock, &deadline) == 0);
    deadline.tv_nsec += 2'000'000;
    if (deadline.tv_nsec >= 1'000'000'000) {
      deadline.tv_sec++;
      deadline.tv_nsec -= 1'000'000'000;
    }
    CHECK(pthread_mutex_lock(&mutex) == 0);
    int error = 0;
    while (error == 0) error = pthread_cond_timedwait(&cond, &mutex, &deadline);
    CHECK(error == ETIMEDOUT);
    timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    CHECK(now.tv_sec > deadline.tv_sec ||
          (now.tv_sec == deadline.tv_sec && now.tv_nsec >= deadline.tv_nsec));
    deadline.tv_nsec = 1'000'000'000;
    CHECK(pthread_cond_timedwait(&cond, &mutex, &deadline) == EINVAL);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_cond_destroy(&cond) == 0);
  }
}

// A signal that comes in time ends a timed wait early.
static void test_signal_in_time() {
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
  std::thread signaller([&] {
    std::lock_guard lock(mutex);
    ready = true;
    changed.notify_one();
  });
  {
    std::unique_lock lock(mutex);
    CHECK(changed.wait_for(lock, 30s, [&] { return ready; }));
  }
  signaller.join();
}

static void test_broadcast(int waiters) {
  std::mutex mutex;
  std::condition_variable opened, all_here;
  bool open = false;
  int waiting = 0, passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < waiters; i++) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      waiting++;
      all_here.notify_one();
      opened.wait(lock, [&] { return open; });
      passed++;
    });
  }
  {
    std::unique_lock lock(mutex);
    all_here.wait(lock, [&] { return waiting == waiters; });
    CHECK(passed == 0);
    open = true;
    opened.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(passed == waiters);
}

// Each signal passes the baton to the one thread whose turn it is.
static void test_turns(int threads_count, int rounds) {
  std::mutex mutex;
  std::vector<std::condition_variable> my_turn(threads_count);
  int turn = 0, steps = 0;
  std::vector<std::thread> threads;
  for (int id = 0; id < threads_count; id++) {
    threads.emplace_back([&, id] {
      for (int i = 0; i < rounds; i++) {
        std::unique_lock lock(mutex);
        my_turn[id].wait(lock, [&] { return turn == id; });
        CHECK(steps % threads_count == id);
        steps++;
        turn = (turn + 1) % threads_count;
        my_turn[turn].notify_one();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(steps == threads_count * rounds);
}

static void test_any_lockable() {
  std::shared_mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  std::thread waiter([&] {
    std::shared_lock lock(mutex);
    changed.wait(lock, [&] { return ready; });
  });
  {
    std::unique_lock lock(mutex);
    ready = true;
  }
  changed.notify_all();
  waiter.join();
  std::shared_lock lock(mutex);
  CHECK(changed.wait_for(lock, 1ms) == std::cv_status::timeout || lock.owns_lock());
}

int main(int argc, char** argv) {
  int scale = argc > 1 ? std::atoi(argv[1]) : 4;
  test_timeouts();
  test_pthread_clocks();
  test_signal_in_time();
  test_broadcast(scale);
  test_turns(3, scale);
  test_any_lockable();
  std::puts("ok");
}
