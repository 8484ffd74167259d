// Sleeps and timed waits take at least as long as requested, by every clock, and sleepers do
// not keep others from running.
// EXPECT: pass
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "../check.h"

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;
using System = std::chrono::system_clock;

template <typename Clock, typename Function>
static void at_least(typename Clock::duration asked, Function function) {
  typename Clock::time_point start = Clock::now();
  function();
  CHECK(Clock::now() - start >= asked);
}

static void test_each() {
  at_least<Steady>(2ms, [] { std::this_thread::sleep_for(2ms); });
  at_least<Steady>(2ms, [] { std::this_thread::sleep_until(Steady::now() + 2ms); });
  at_least<System>(2ms, [] { std::this_thread::sleep_until(System::now() + 2ms); });
  at_least<Steady>(1ms, [] { CHECK(usleep(1000) == 0); });
  at_least<Steady>(1ms, [] {
    timespec time = {0, 1'000'000};
    CHECK(nanosleep(&time, nullptr) == 0);
  });
  at_least<Steady>(1ms, [] {
    timespec time = {0, 1'000'000};
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) == 0);
  });
  timespec wrong = {0, 1'000'000'000};
  errno = 0;
  CHECK(nanosleep(&wrong, nullptr) == -1 && errno == EINVAL);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, nullptr) == EINVAL);
  std::this_thread::sleep_for(-1s);
  std::this_thread::sleep_until(Steady::now() - 1h);

  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  at_least<Steady>(2ms, [&] { CHECK(!never.wait_for(lock, 2ms, [] { return false; })); });
}

static void test_clocks_go_forward() {
  Steady::time_point last = Steady::now();
  for (int i = 0; i < 100; i++) {
    Steady::time_point now = Steady::now();
    CHECK(now >= last);
    last = now;
  }
}

// Threads with different deadlines: each wakes, none before its time.
static void test_many(int threads_count) {
  std::atomic<int> awake = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < threads_count; i++) {
    threads.emplace_back([&, i] {
      auto asked = std::chrono::milliseconds(1 + (threads_count - i) % 5);
      at_least<Steady>(asked, [&] { std::this_thread::sleep_for(asked); });
      awake++;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(awake == threads_count);
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 5;
  test_each();
  test_clocks_go_forward();
  test_many(threads);
  std::puts("ok");
}
