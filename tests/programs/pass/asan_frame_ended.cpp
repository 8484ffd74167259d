// A caller gives a worker the address of its local result and returns when the worker has written
// it. Built with -fsanitize=address.
#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic<int*> wanted;
static std::atomic<bool> written;

static void work() {
  int* result = nullptr;
  while ((result = wanted.load()) == nullptr) std::this_thread::yield();
  *result = 7;
  written = true;
}

__attribute__((noinline)) static void request() {
  int result = 0;
  wanted = &result;
  while (!written) std::this_thread::yield();
}

int main() {
  std::thread worker(work);
  request();
  worker.join();
  std::puts("done");
}
