// Each worker counts the latch down before it has written its result. The main thread adds the
// results up when all have counted, usually, but not always, after the last one has written too.
// ROOT CAUSE: latch_count_bug.cpp:20; KIND: order-violation
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  int workers = argc > 1 ? std::atoi(argv[1]) : 3;
  std::latch all_done(workers);
  std::vector<std::atomic<int>> results(workers);
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; i++) {
    threads.emplace_back([&, i] {
      all_done.count_down();
      results[i] = i + 1;
    });
  }
  all_done.wait();
  int sum = 0;
  for (const std::atomic<int>& result : results) sum += result;
  for (std::thread& thread : threads) thread.join();
  std::printf("sum %d\n", sum);
  return sum == workers * (workers + 1) / 2 ? 0 : 1;
}
