// Many threads: 64 that are all alive at once, 500 one after another, and threads that create
// threads.
// EXPECT: pass
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "../check.h"

// No thread leaves before all have arrived.
static void test_at_once(int count) {
  std::mutex mutex;
  std::condition_variable all_here;
  int here = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      if (++here == count) all_here.notify_all();
      all_here.wait(lock, [&] { return here == count; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(here == count);
}

static void test_one_after_another(int count) {
  int sum = 0;
  for (int i = 1; i <= count; i++) std::thread([&sum, i] { sum += i; }).join();
  CHECK(sum == count * (count + 1) / 2);
}

static int tree(int depth) {
  if (depth == 0) return 1;
  int left = 0, right = 0;
  std::thread left_thread([&] { left = tree(depth - 1); });
  std::thread right_thread([&] { right = tree(depth - 1); });
  left_thread.join();
  right_thread.join();
  return left + right + 1;
}

int main(int argc, char** argv) {
  int scale = argc > 1 ? std::atoi(argv[1]) : 64;
  test_at_once(scale);
  test_one_after_another(500);
  CHECK(tree(4) == 31);
  std::puts("ok");
}
