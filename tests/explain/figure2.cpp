// Weeratunge et al. 2010, figure 2: because a predicate is true that should not be, x is changed, and because of that y is not.
// ROOT CAUSE: figure2.cpp:14 (goes by a flag of another thread), figure2.cpp:22; KIND: data-race or order-violation
// OMITTED: figure2.cpp:17
#include <cstdio>
#include <thread>  // clang-format off

static bool race = false;
static int result = -1;

static void thread() {
  int x = 0;
  int y = 0;
  // Nothing keeps the other thread from setting it before.
  if (race)
    x = 1;
  if (x == 0)
    y = 1;
  result = y;
}

static void other() {
  race = true;
}

int main() {
  std::thread second(thread);
  std::thread first(other);
  first.join();
  second.join();
  std::printf("%d\n", result);
  return result == 1 ? 0 : 1;
}
