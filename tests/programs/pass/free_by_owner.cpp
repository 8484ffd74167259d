// A cache hands out a pointer to its entry; the owner frees the entry once the reader has said that
// it is done with it.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Entry {
  long value = 42;
  long more[3] = {};
};

static Entry* const entry = new Entry;
static std::atomic<bool> done;
static long read_value;

static void read_entry(int times) {
  for (int i = 0; i < times; i++) {
    const volatile long* value = &entry->value;
    if (*value != 42) std::_Exit(1);
    read_value = *value;
  }
  done = true;
}

static void free_entry() {
  while (!done) std::this_thread::yield();
  Entry* old = entry;
  __asm__ volatile("" : "+r"(old));
  delete old;
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 1;
  std::thread reader(read_entry, times);
  std::thread owner(free_entry);
  reader.join();
  owner.join();
  std::printf("%ld\n", read_value);
  return read_value == 42 ? 0 : 1;
}
