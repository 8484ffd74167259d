// A spin lock that waits until the flag is clear and then sets it, in two atomic steps instead of
// one. Two threads can see the clear flag and enter together.
// ROOT CAUSE: spin_flag_race.cpp:15; KIND: atomicity-violation
// PREEMPTIONS: 2
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <thread>

class SpinLock {
 public:
  void lock() {
    while (taken_.load()) {
      std::this_thread::yield();
    }
    taken_.store(true);
  }
  void unlock() { taken_.store(false); }

 private:
  std::atomic<bool> taken_ = false;
};

static SpinLock spin_lock;
static std::atomic<int> inside = 0;
static int visits = 0;

static void visit(int times) {
  for (int i = 0; i < times; i++) {
    spin_lock.lock();
    int others = inside.fetch_add(1);
    assert(others == 0);
    visits++;
    inside.fetch_sub(1);
    spin_lock.unlock();
  }
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 2;
  std::thread first(visit, times);
  std::thread second(visit, times);
  first.join();
  second.join();
  std::printf("%d visits\n", visits);
  return visits == 2 * times ? 0 : 1;
}
