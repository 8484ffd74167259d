// Each thread reads one table with a shared lock and, still holding it, writes the other. The
// shared locks close a circle just as exclusive ones do.
// ROOT CAUSE: rwlock_abba.cpp:22; KIND: deadlock
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>

struct Table {
  std::shared_mutex mutex;
  int rows = 1;
};

static Table left, right;

static void copy(Table* from, Table* to, int times) {
  for (int i = 0; i < times; i++) {
    std::shared_lock reading(from->mutex);
    std::unique_lock writing(to->mutex);
    to->rows += from->rows;
  }
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 1;
  std::thread first(copy, &left, &right, times);
  std::thread second(copy, &right, &left, times);
  first.join();
  second.join();
  std::printf("%d and %d rows\n", left.rows, right.rows);
  return left.rows > 1 && right.rows > 1 ? 0 : 1;
}
