// One thread runs a call_once whose function takes a lock; another holds that lock and enters the
// same call_once. Each waits for the other.
// ROOT CAUSE: once_lock_inversion.cpp:29; KIND: deadlock
// PREEMPTIONS: 1
// EXPECT: fail deadlock
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

static std::once_flag loaded;
static std::mutex registry_mutex;
static int entries = 0;
static int lookups = 0;

static void load() {
  std::lock_guard lock(registry_mutex);
  entries = 3;
}

static void look_up() {
  std::call_once(loaded, load);
  std::lock_guard lock(registry_mutex);
  lookups++;
}

static void look_up_often(int times) {
  std::lock_guard lock(registry_mutex);
  std::call_once(loaded, [] { entries = 3; });
  lookups += times;
}

int main(int argc, char** argv) {
  int times = argc > 1 ? std::atoi(argv[1]) : 2;
  std::thread first(look_up);
  std::thread second(look_up_often, times);
  first.join();
  second.join();
  std::printf("%d entries, %d lookups\n", entries, lookups);
  return entries == 3 && lookups == times + 1 ? 0 : 1;
}
