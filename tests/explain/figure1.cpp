// Weeratunge et al. 2010, figure 1: a predicate reads x before the other thread has initialised it. The failing run's own slice has only the
// assignments that were there, not the one that is missing.
// ROOT CAUSE: figure1.cpp:12 (read too early), figure1.cpp:20; KIND: data-race or order-violation
#include <cstdio>
#include <thread>  // clang-format off

static int x = 0;
static const char* output = "";

static void use() {
  const char* wrong = "wrong";
  if (x == 5)
    output = "right";
  else
    output = wrong;
}

static int prepared() { return 5; }
static void init() {
  x = prepared();
}

int main() {
  std::thread first(init);
  std::thread second(use);
  first.join();
  second.join();
  std::puts(output);
  return output[0] == 'r' ? 0 : 1;
}
