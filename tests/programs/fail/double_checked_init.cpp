// Double-checked initialisation that publishes the object before it is filled. A second thread
// passes the first, unlocked check and reads the empty table.
// ROOT CAUSE: double_checked_init.cpp:30; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

struct Table {
  int size = 0;
  int squares[16] = {};
};

static std::mutex mutex;
static std::atomic<Table*> instance = nullptr;

static void fill(Table* table) {
  for (int i = 0; i < 16; i++) table->squares[i] = i * i;
  table->size = 16;
}

static Table* get_table() {
  if (instance.load() == nullptr) {
    std::lock_guard lock(mutex);
    if (instance.load() == nullptr) {
      instance.store(new Table);
      fill(instance.load());
    }
  }
  return instance.load();
}

static void use(int index, int* result) {
  Table* table = get_table();
  assert(index < table->size);
  *result = table->squares[index];
}

int main(int argc, char** argv) {
  int index = argc > 1 ? std::atoi(argv[1]) % 15 : 3;
  int results[2] = {};
  std::thread first(use, index, &results[0]);
  std::thread second(use, index + 1, &results[1]);
  first.join();
  second.join();
  std::printf("%d %d\n", results[0], results[1]);
  delete instance.load();
  return results[0] == index * index && results[1] == (index + 1) * (index + 1) ? 0 : 1;
}
