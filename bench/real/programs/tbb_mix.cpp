// oneTBB: parallel_for, parallel_reduce, parallel_sort, a pipeline with serial and parallel filters, concurrent_hash_map,
// concurrent_bounded_queue, task_group and a flow graph, all with four threads whatever the machine has.
// Package: libtbb-dev. Flags: -ltbb -pthread. Usage: tbb_mix [threads] [size]
#include <tbb/blocked_range.h>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_queue.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

static uint32_t mix(uint32_t x) { return (x ^ (x >> 15)) * 2654435761u; }

static long fibonacci(int n) {
  if (n < 12) return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  long a = 0, b = 0;
  tbb::task_group group;
  group.run([&] { a = fibonacci(n - 1); });
  group.run([&] { b = fibonacci(n - 2); });
  group.wait();
  return a + b;
}

static void loops(int size) {
  std::vector<uint32_t> values(size);
  tbb::parallel_for(0, size, [&](int i) { values[i] = mix(i); });
  const uint64_t sum = tbb::parallel_reduce(
      tbb::blocked_range<int>(0, size), uint64_t{0},
      [&](const tbb::blocked_range<int>& range, uint64_t partial) {
        for (int i = range.begin(); i != range.end(); ++i) partial += values[i];
        return partial;
      },
      std::plus<uint64_t>());
  tbb::parallel_sort(values.begin(), values.end());
  std::printf("loops: sum %llu, middle %u\n", static_cast<unsigned long long>(sum),
              values[size / 2]);
}

static void hash_map(int size) {
  tbb::concurrent_hash_map<std::string, int> words;
  tbb::parallel_for(0, size, [&](int i) {
    tbb::concurrent_hash_map<std::string, int>::accessor entry;
    words.insert(entry, "word" + std::to_string(mix(i) % 300));
    entry->second += i % 5;
  });
  long total = 0;
  for (const auto& [word, count] : words) total += count * static_cast<long>(word.size());
  std::printf("hash map: %zu words, total %ld\n", words.size(), total);
}

static void pipeline(int size) {
  int next = 0;
  uint64_t hash = 0;
  tbb::parallel_pipeline(
      8,
      tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
        if (next == size) flow.stop();
        return next++;
      }) & tbb::make_filter<int, uint32_t>(tbb::filter_mode::parallel, [](int i) {
        uint32_t x = i;
        for (int k = 0; k < 100; k++) x = mix(x);
        return x;
      }) & tbb::make_filter<uint32_t, void>(tbb::filter_mode::serial_in_order, [&](uint32_t x) {
        hash = hash * 31 + x;
      }));
  std::printf("pipeline: %016llx\n", static_cast<unsigned long long>(hash));
}

static void bounded_queue(int size) {
  tbb::concurrent_bounded_queue<int> queue;
  queue.set_capacity(16);
  std::atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&, t] {
      for (int i = t; i < size; i += 2) queue.push(i);
      queue.push(-1);
    });
    threads.emplace_back([&] {
      for (int value = 0; queue.pop(value), value >= 0;) sum += value;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("bounded queue: %ld\n", sum.load());
}

static void flow(int size) {
  tbb::flow::graph graph;
  long odd = 0, even = 0;
  tbb::flow::function_node<int, long> square(graph, tbb::flow::unlimited,
                                             [](int i) { return long{i} * i; });
  tbb::flow::function_node<long> collect(graph, tbb::flow::serial,
                                         [&](long x) { (x % 2 ? odd : even) += x; });
  tbb::flow::make_edge(square, collect);
  for (int i = 0; i < size; i++) square.try_put(i);
  graph.wait_for_all();
  std::printf("flow graph: odd %ld, even %ld\n", odd, even);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const int size = argc > 2 ? std::atoi(argv[2]) : 100000;
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(threads);
  arena.execute([&] {
    loops(size * 4);
    hash_map(size);
    pipeline(size / 10);
    flow(size / 20);
    std::printf("fibonacci: %ld\n", fibonacci(24));
  });
  bounded_queue(size / 10);
}
