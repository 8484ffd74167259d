// Boost.Lockfree: the queue and the stack with many producers and consumers, and the ring buffer between two threads.
// Package: libboost-dev. Flags: -pthread. Usage: boost_lockfree [threads] [items]
#include <atomic>
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/lockfree/stack.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

// Passes `items` numbers of each of `threads` producers through the container to as many consumers.
template <typename Container>
static void pass(const char* name, Container& container, int threads, int items) {
  std::atomic<int> running{threads};
  std::atomic<long> count{0};
  std::atomic<uint64_t> sum{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) {
    all.emplace_back([&, t] {
      for (int i = 0; i < items; i++) {
        while (!container.push(static_cast<uint32_t>(t * items + i))) std::this_thread::yield();
      }
      running--;
    });
    all.emplace_back([&] {
      long taken = 0;
      uint64_t partial = 0;
      for (;;) {
        const bool last_look = running == 0;
        uint32_t value;
        if (container.pop(value)) {
          taken++;
          partial += value;
        } else if (last_look) {
          break;
        } else {
          std::this_thread::yield();
        }
      }
      count += taken;
      sum += partial;
    });
  }
  for (std::thread& thread : all) thread.join();
  std::printf("%s: %ld items, sum %llu, empty %d\n", name, count.load(),
              static_cast<unsigned long long>(sum.load()), container.empty());
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 3;
  const int items = argc > 2 ? std::atoi(argv[2]) : 20000;
  boost::lockfree::queue<uint32_t> growing(16);
  pass("queue", growing, threads, items);
  boost::lockfree::queue<uint32_t, boost::lockfree::capacity<100>> bounded;
  pass("bounded queue", bounded, threads, items);
  boost::lockfree::stack<uint32_t> stack(16);
  pass("stack", stack, threads, items);
  boost::lockfree::spsc_queue<uint32_t, boost::lockfree::capacity<64>> ring;
  uint64_t hash = 0;
  std::thread producer([&] {
    for (int i = 0; i < items * 4; i++) {
      while (!ring.push(i)) std::this_thread::yield();
    }
  });
  for (int got = 0; got < items * 4;) {
    const size_t n = ring.consume_all([&](uint32_t value) { hash = hash * 31 + value; });
    got += static_cast<int>(n);
    if (n == 0) std::this_thread::yield();
  }
  producer.join();
  std::printf("ring: hash %016llx\n", static_cast<unsigned long long>(hash));
}
