// The fixed twin of fail/ubsan_overflow_race.cpp: a thread checks for room under the lock. Built
// with -fsanitize=undefined.
// EXPECT: pass
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
    std::lock_guard lock(mutex);
    if (has_room()) number = number * 2;
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
