// A worker publishes the address of its thread_local progress, and a monitor reads through the
// pointer: at any time it finds a number of items.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

static thread_local std::atomic<int> progress;
static std::atomic<std::atomic<int>*> published;
static std::atomic<bool> seen;

static void work(int items) {
  progress = 0;
  published.store(&progress);
  for (int item = 1; item <= items; item++) progress = item;
  while (!seen) std::this_thread::yield();  // the variable lives as long as its thread
}

static int monitor() {
  std::atomic<int>* found = nullptr;
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
