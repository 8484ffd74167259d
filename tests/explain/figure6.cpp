// Weeratunge et al. 2010, figure 6: every access of p holds the lock, and still what is set in one section is gone in the next.
// ROOT CAUSE: figure6.cpp:18, figure6.cpp:26 (should be one section), figure6.cpp:33; KIND: atomicity-violation
#include <cstdio>
#include <mutex>
#include <thread>  // clang-format off

struct Point {
  int x = 3;
};

static std::mutex mutex;
static Point* p = nullptr;
static Point point;
static int sum = 0;

static void set() {
  const std::scoped_lock lock(mutex);
  p = &point;
}

static void work() {
  set();
  for (int i = 0; i < 3; ++i) sum += i;
  const std::scoped_lock lock(mutex);
  // Null if the other thread came in between.
  sum += p->x;
}

static void reset() {
  int before = sum;
  const std::scoped_lock lock(mutex);
  if (before >= 0)
    p = nullptr;
}

int main() {
  std::thread first(work);
  std::thread second(reset);
  first.join();
  second.join();
  std::printf("%d\n", sum);
  return 0;
}
