// A cache hands out a pointer to its entry; the owner frees the entry as soon as it has been asked
// for, while the reader is still to read it. The release is the only step of the owner that the
// reader could notice: nothing else writes to the entry. Freed memory belongs to the allocator, which
// writes its own data there.
// ROOT CAUSE: free_by_owner.cpp:32; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Entry {
  long value = 42;
  long more[3] = {};
};

static Entry* const entry = new Entry;
static long read_value;

static void read_entry(int times) {
  for (int i = 0; i < times; i++) {
    const volatile long* value = &entry->value;
    if (*value != 42) std::_Exit(1);
    read_value = *value;
  }
}

static void free_entry() {
  // A correct owner would wait for the reader here.
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
