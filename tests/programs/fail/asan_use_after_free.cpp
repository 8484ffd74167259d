// A reader fetches the counter's address under the lock but counts after it has released the lock.
// The closer deletes the counter in between. The memory is still there: without AddressSanitizer
// nothing happens. Built with -fsanitize=address.
// ROOT CAUSE: asan_use_after_free.cpp:28; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail sanitizer
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

struct Counter {
  volatile long value = 0;
};

static std::mutex mutex;
static Counter* counter;

static Counter* find_counter() {
  std::lock_guard lock(mutex);
  return counter;
}

static void count(int times) {
  for (int i = 0; i < times; i++) {
    Counter* found = find_counter();
    if (found == nullptr) return;
    found->value = found->value + 1;
  }
}

static void close_counter() {
  Counter* closed;
  {
    std::lock_guard lock(mutex);
    closed = counter;
    counter = nullptr;
  }
  delete closed;
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 3;
  counter = new Counter;
  std::thread reader(count, times);
  std::thread closer(close_counter);
  reader.join();
  closer.join();
  std::puts("closed");
}
