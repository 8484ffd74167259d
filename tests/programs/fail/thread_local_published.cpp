// A worker publishes the address of its thread_local progress and then counts on in two steps: -1
// while it is busy, the number of the item afterwards. The monitor reads through the pointer and
// takes what it finds for a number of items. The worker's own accesses name the variable.
// ROOT CAUSE: thread_local_published.cpp:20; KIND: data-race
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

static thread_local volatile int progress;
static std::atomic<volatile int*> published;
static std::atomic<bool> seen;

static void work(int items) {
  progress = 0;
  published.store(&progress);
  for (int item = 1; item <= items; item++) {
    progress = -1;
    progress = item;
  }
  while (!seen) std::this_thread::yield();  // the variable lives as long as its thread
}

static int monitor() {
  volatile int* found = nullptr;
  while ((found = published.load()) == nullptr) std::this_thread::yield();
  const int items = *found;
  seen = true;
  return items;
}

int main(int argc, char** argv) {
  std::thread worker(work, argc > 1 ? std::atoi(argv[1]) : 1);
  const int items = monitor();
  worker.join();
  std::printf("%d items\n", items);
  return items >= 0 ? 0 : 1;
}
