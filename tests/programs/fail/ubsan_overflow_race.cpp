// Two threads double a number as long as there is room; each checks without the lock. Both find
// room for one more doubling, and the second overflows. The result is not used: without UBSan
// nothing happens. Built with -fsanitize=undefined.
// ROOT CAUSE: ubsan_overflow_race.cpp:22; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail sanitizer
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

static std::mutex mutex;
static volatile int number = 1 << 20;

static bool has_room() { return number <= INT_MAX / 2; }

static void grow(int times) {
  for (int i = 0; i < times; i++) {
    if (!has_room()) continue;
    std::lock_guard lock(mutex);
    number = number * 2;
  }
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 10;
  std::thread first(grow, times);
  std::thread second(grow, times);
  first.join();
  second.join();
  std::puts("grown");
}
