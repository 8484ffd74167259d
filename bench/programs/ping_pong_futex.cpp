// The cost of handing the processor from one kernel thread to another: two threads, pinned to one
// core, take turns through a futex. Prints nanoseconds for each hand-off, which clew's own switch
// is compared with.
// Usage: ping_pong_futex [hand-offs]
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

static std::atomic<int> turn = 0;
static_assert(sizeof turn == sizeof(int));

static void futex(int operation, int value) {
  syscall(SYS_futex, reinterpret_cast<int*>(&turn), operation, value, nullptr, nullptr, 0);
}

static void pin_to_one_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(sched_getcpu(), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
    std::perror("sched_setaffinity");
    std::exit(1);
  }
}

static void play(int id, long times) {
  for (long i = 0; i < times; i++) {
    for (int seen = turn.load(); seen != id; seen = turn.load()) futex(FUTEX_WAIT_PRIVATE, seen);
    turn.store(1 - id);
    futex(FUTEX_WAKE_PRIVATE, 1);
  }
}

int main(int argc, char** argv) {
  long hand_offs = argc > 1 ? std::atol(argv[1]) : 200000;
  pin_to_one_core();  // threads created from here on inherit it
  auto start = std::chrono::steady_clock::now();
  std::thread other(play, 1, hand_offs / 2);
  play(0, hand_offs / 2);
  other.join();
  std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%.0f\n", elapsed.count() / static_cast<double>(hand_offs));
}
