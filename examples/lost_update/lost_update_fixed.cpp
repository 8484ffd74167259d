// lost_update.cpp, fixed: the counter is atomic, so an increment is one indivisible operation.
// EXPECT: pass
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

static std::atomic<int> counter = 0;

static void count(int times) {
  for (int i = 0; i < times; i++) {
    counter++;
  }
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 10;
  std::thread first(count, times);
  std::thread second(count, times);
  first.join();
  second.join();

  std::printf("counted %d of %d\n", counter.load(), 2 * times);
  return counter == 2 * times ? 0 : 1;
}
