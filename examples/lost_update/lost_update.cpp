// Two threads increment a counter without a lock. `++` is a read and a write: an increment by the
// other thread in between is overwritten and lost.
// ROOT CAUSE: lost_update.cpp:14; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <cstdio>
#include <cstdlib>
#include <thread>

static int counter = 0;

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

  std::printf("counted %d of %d\n", counter, 2 * times);
  return counter == 2 * times ? 0 : 1;
}
