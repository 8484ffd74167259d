// fail/once_lock_inversion.cpp, fixed: nobody enters the call_once with the lock held.
// EXPECT: pass
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
  std::call_once(loaded, load);
  std::lock_guard lock(registry_mutex);
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
