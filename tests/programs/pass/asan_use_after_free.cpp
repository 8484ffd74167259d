// The fixed twin of fail/asan_use_after_free.cpp: the reader shares the counter. Built with
// -fsanitize=address.
// EXPECT: pass
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

struct Counter {
  std::mutex mutex;
  long value = 0;
};

static std::mutex mutex;
static std::shared_ptr<Counter> counter;

static std::shared_ptr<Counter> find_counter() {
  std::lock_guard lock(mutex);
  return counter;
}

static void count(int times) {
  for (int i = 0; i < times; i++) {
    const std::shared_ptr<Counter> found = find_counter();
    if (found == nullptr) return;
    std::lock_guard lock(found->mutex);
    found->value = found->value + 1;
  }
}

static void close_counter() {
  std::shared_ptr<Counter> closed;
  std::lock_guard lock(mutex);
  closed.swap(counter);
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 3;
  counter = std::make_shared<Counter>();
  std::thread reader(count, times);
  std::thread closer(close_counter);
  reader.join();
  closer.join();
  std::puts("closed");
}
