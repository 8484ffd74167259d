// fail/latch_count_bug.cpp, fixed: a worker counts down after it has written its result.
// EXPECT: pass
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  int workers = argc > 1 ? std::atoi(argv[1]) : 3;
  std::latch all_done(workers);
  std::vector<int> results(workers);
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; i++) {
    threads.emplace_back([&, i] {
      results[i] = i + 1;
      all_done.count_down();
    });
  }
  all_done.wait();
  int sum = 0;
  for (int result : results) sum += result;
  for (std::thread& thread : threads) thread.join();
  std::printf("sum %d\n", sum);
  return sum == workers * (workers + 1) / 2 ? 0 : 1;
}
