// moodycamel::ConcurrentQueue: producers and consumers with and without tokens, in bulk and singly, and the blocking queue,
// whose consumers wait on its own semaphore.
// Package: libconcurrentqueue-dev. Flags: -pthread. Usage: concurrent_queue [producers] [consumers] [items]
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/concurrentqueue.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static std::atomic<int> out_of_order{0};

struct Tally {
  long count = 0;
  uint64_t sum = 0;
  std::vector<int> last;  // of each producer: its items must come in order
  explicit Tally(int producers) : last(producers, -1) {}
  void take(uint32_t item) {
    const int producer = static_cast<int>(item >> 24), number = static_cast<int>(item & 0xffffff);
    if (number <= last[producer]) out_of_order++;
    last[producer] = number;
    count++;
    sum += number;
  }
};

static void polling(int producers, int consumers, int items) {
  moodycamel::ConcurrentQueue<uint32_t> queue(64);
  std::atomic<int> running{producers};
  std::vector<Tally> tallies(consumers, Tally(producers));
  std::vector<std::thread> threads;
  for (int p = 0; p < producers; p++) {
    threads.emplace_back([&, p] {
      moodycamel::ProducerToken token(queue);
      for (int i = 0; i < items;) {
        uint32_t bulk[8];
        int n = 0;
        while (n < 8 && i < items) bulk[n++] = static_cast<uint32_t>(p) << 24 | i++;
        if (p % 2 == 0) {
          queue.enqueue_bulk(token, bulk, n);
        } else {
          for (int k = 0; k < n; k++) queue.enqueue(token, bulk[k]);
        }
      }
      running--;
    });
  }
  for (int c = 0; c < consumers; c++) {
    threads.emplace_back([&, c] {
      moodycamel::ConsumerToken token(queue);
      for (;;) {
        const bool last_look = running == 0;
        uint32_t bulk[5];
        const size_t n =
            c % 2 == 0 ? queue.try_dequeue_bulk(token, bulk, 5) : queue.try_dequeue(bulk[0]);
        for (size_t k = 0; k < n; k++) tallies[c].take(bulk[k]);
        if (n == 0) {
          if (last_look) return;
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  long count = 0;
  uint64_t sum = 0;
  for (const Tally& tally : tallies) count += tally.count, sum += tally.sum;
  std::printf("polling: %ld items, sum %llu\n", count, static_cast<unsigned long long>(sum));
}

static void blocking(int producers, int consumers, int items) {
  moodycamel::BlockingConcurrentQueue<uint32_t> queue;
  std::vector<Tally> tallies(consumers, Tally(producers));
  std::vector<std::thread> threads, takers;
  for (int c = 0; c < consumers; c++) {
    takers.emplace_back([&, c] {
      for (uint32_t item;;) {
        if (c % 2 == 0) {
          queue.wait_dequeue(item);
        } else if (!queue.wait_dequeue_timed(item, 1000)) {
          continue;
        }
        if (item == ~0u) return;
        tallies[c].take(item);
      }
    });
  }
  for (int p = 0; p < producers; p++) {
    threads.emplace_back([&, p] {
      moodycamel::ProducerToken token(queue);
      for (int i = 0; i < items; i++) queue.enqueue(token, static_cast<uint32_t>(p) << 24 | i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  long left = static_cast<long>(producers) * items;
  for (int c = 0; c < consumers; c++) queue.enqueue(~0u);
  for (std::thread& thread : takers) thread.join();
  uint64_t sum = 0;
  for (const Tally& tally : tallies) left -= tally.count, sum += tally.sum;
  for (uint32_t item;
       queue.try_dequeue(item);) {  // an end marker can be taken before an item of another producer
    left--;
    sum += item & 0xffffff;
  }
  std::printf("blocking: %ld missing, sum %llu\n", left, static_cast<unsigned long long>(sum));
}

int main(int argc, char** argv) {
  const int producers = argc > 1 ? std::atoi(argv[1]) : 3;
  const int consumers = argc > 2 ? std::atoi(argv[2]) : 3;
  const int items = argc > 3 ? std::atoi(argv[3]) : 20000;
  polling(producers, consumers, items);
  blocking(producers, consumers, items);
  std::printf("out of order: %d\n", out_of_order.load());
}
