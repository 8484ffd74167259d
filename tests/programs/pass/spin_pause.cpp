// Loops that wait for another thread with the processor's pause instruction, with an empty body,
// and with a ticket lock: none of them calls anything that could block.
// EXPECT: pass
#include <immintrin.h>

#include <atomic>
#include <thread>
#include <vector>

#include "../check.h"

class TicketLock {
 public:
  void lock() {
    unsigned mine = next_.fetch_add(1);
    while (serving_.load(std::memory_order_acquire) != mine) _mm_pause();
  }
  void unlock() { serving_.fetch_add(1, std::memory_order_release); }

 private:
  std::atomic<unsigned> next_ = 0;
  std::atomic<unsigned> serving_ = 0;
};

static void test_ticket_lock(int threads_count, int rounds) {
  TicketLock ticket_lock;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < threads_count; i++) {
    threads.emplace_back([&] {
      for (int k = 0; k < rounds; k++) {
        ticket_lock.lock();
        count++;
        ticket_lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == threads_count * rounds);
}

static void test_bare_spin() {
  std::atomic<bool> ready = false;
  int value = 0;
  std::thread setter([&] {
    value = 3;
    ready.store(true, std::memory_order_release);
  });
  while (!ready.load(std::memory_order_acquire)) {
  }
  CHECK(value == 3);
  setter.join();
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  test_ticket_lock(2, rounds);
  test_bare_spin();
  std::puts("ok");
}
