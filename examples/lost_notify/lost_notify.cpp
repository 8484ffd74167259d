// The reader checks `ready` before it takes the lock, and only then waits. If the writer sets
// `ready` and notifies in between, nobody is woken and the reader waits for ever.
// ROOT CAUSE: lost_notify.cpp:26; KIND: lost-wakeup
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static std::atomic<bool> ready = false;
static int value = 0;

static void publish(int new_value) {
  std::lock_guard lock(mutex);
  value = new_value;
  ready = true;
  changed.notify_one();
}

static int await_value() {
  if (!ready) {
    std::unique_lock lock(mutex);
    changed.wait(lock);
  }
  return value;
}

int main(int argc, char** argv) {
  int sent = argc > 1 ? std::atoi(argv[1]) : 42;
  int received = 0;
  std::thread reader([&] { received = await_value(); });
  std::thread writer([&] { publish(sent); });
  reader.join();
  writer.join();
  std::printf("received %d\n", received);
  return received == sent ? 0 : 1;
}
