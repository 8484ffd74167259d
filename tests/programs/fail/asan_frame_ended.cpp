// A caller gives a worker the address of its local result and returns when the worker has taken it,
// not when it has written: the write may go to a frame that has ended. The end of the frame is the
// only step of the caller that conflicts with it. Built with -fsanitize=address.
// ROOT CAUSE: asan_frame_ended.cpp:17, asan_frame_ended.cpp:18 (the write that comes too late); KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail sanitizer
#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic<int*> wanted;
static std::atomic<bool> taken;

static void work() {
  int* result = nullptr;
  while ((result = wanted.load()) == nullptr) std::this_thread::yield();
  taken = true;
  *result = 7;
}

__attribute__((noinline)) static void request() {
  int result = 0;
  wanted = &result;
  while (!taken) std::this_thread::yield();
}

int main() {
  std::thread worker(work);
  request();
  worker.join();
  std::puts("done");
}
