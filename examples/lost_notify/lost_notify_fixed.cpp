// lost_notify.cpp, fixed: the reader checks `ready` with the lock held, and checks again when
// woken.
// EXPECT: pass
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable changed;
static bool ready = false;
static int value = 0;

static void publish(int new_value) {
  std::lock_guard lock(mutex);
  value = new_value;
  ready = true;
  changed.notify_one();
}

static int await_value() {
  std::unique_lock lock(mutex);
  while (!ready) changed.wait(lock);
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
