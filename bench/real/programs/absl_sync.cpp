// Abseil's synchronisation: Mutex with conditions, reader locks, CondVar with timeouts, Notification, BlockingCounter, Barrier, call_once.
// Its locks wait on their own futexes.
// Package: libabsl-dev. Flags: pkg:absl_synchronization pkg:absl_flat_hash_map pkg:absl_str_format -pthread.
// Usage: absl_sync [threads] [items]
#include <absl/base/call_once.h>
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_format.h>
#include <absl/synchronization/barrier.h>
#include <absl/synchronization/blocking_counter.h>
#include <absl/synchronization/mutex.h>
#include <absl/synchronization/notification.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <thread>
#include <vector>

// A bounded queue that waits by conditions: Abseil evaluates them for the waiting thread.
class Queue {
 public:
  void put(int item) {
    absl::MutexLock lock(&mutex_,
                         absl::Condition(+[](Queue* q) { return q->items_.size() < 8; }, this));
    items_.push_back(item);
  }
  int take() {
    absl::MutexLock lock(&mutex_,
                         absl::Condition(+[](Queue* q) { return !q->items_.empty(); }, this));
    const int item = items_.front();
    items_.pop_front();
    return item;
  }

 private:
  absl::Mutex mutex_;
  std::deque<int> items_;
};

static void queue(int threads, int items) {
  Queue queue;
  std::atomic<long> sum{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) {
    all.emplace_back([&] {
      for (int i = 0; i < items; i++) queue.put(i);
    });
    all.emplace_back([&] {
      long partial = 0;
      for (int i = 0; i < items; i++) partial += queue.take();
      sum += partial;
    });
  }
  for (std::thread& thread : all) thread.join();
  absl::PrintF("queue: %d\n", sum.load());
}

static void readers(int threads, int items) {
  absl::Mutex mutex;
  absl::flat_hash_map<int, int> table;
  std::atomic<int> wrong{0};
  absl::BlockingCounter finished(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) {
    all.emplace_back([&, t] {
      for (int i = 0; i < items; i++) {
        if ((i + t) % 5 == 0) {
          absl::MutexLock lock(&mutex);
          table[i % 40] += 1;
          table[1000 + i % 40] -= 1;
        } else {
          absl::ReaderMutexLock lock(&mutex);
          auto plus = table.find(i % 40), minus = table.find(1000 + i % 40);
          if (plus != table.end() && plus->second + minus->second != 0) wrong++;
        }
      }
      finished.DecrementCount();
    });
  }
  finished.Wait();
  for (std::thread& thread : all) thread.join();
  long sum = 0;
  for (const auto& [key, value] : table) sum += key < 1000 ? value : 0;
  absl::PrintF("readers: sum %d, wrong %d\n", sum, wrong.load());
}

static void rounds(int threads) {
  absl::Notification start;
  absl::once_flag once;
  int initialised = 0;
  std::vector<int> cells(threads, 1);
  std::vector<absl::Barrier*> barriers;
  for (int i = 0; i < 20; i++) barriers.push_back(new absl::Barrier(threads));
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) {
    all.emplace_back([&, t] {
      start.WaitForNotification();
      absl::call_once(once, [&] { initialised++; });
      for (int i = 0; i < 20; i += 2) {
        const int next = (cells[t] * 3 + cells[(t + 1) % threads]) % 10007;
        if (barriers[i]->Block()) delete barriers[i];
        cells[t] = next;
        if (barriers[i + 1]->Block()) delete barriers[i + 1];
      }
    });
  }
  start.Notify();
  for (std::thread& thread : all) thread.join();
  long sum = 0;
  for (int cell : cells) sum = sum * 31 + cell;
  absl::PrintF("barriers: %d, initialised %d\n", sum, initialised);
}

static void timeouts() {
  absl::Mutex mutex;
  absl::CondVar changed;
  int value = 0;
  const absl::Time begin = absl::Now();
  int timed_out = 0;
  {
    absl::MutexLock lock(&mutex);
    timed_out += changed.WaitWithTimeout(&mutex, absl::Milliseconds(20)) ? 1 : 0;
    timed_out += mutex.AwaitWithTimeout(absl::Condition(
                                            +[](int* v) { return *v == 1; }, &value),
                                        absl::Milliseconds(10))
                     ? 0
                     : 1;
  }
  const bool late = absl::Now() - begin >= absl::Milliseconds(25);
  std::thread setter([&] {
    absl::SleepFor(absl::Milliseconds(5));
    absl::MutexLock lock(&mutex);
    value = 1;
    changed.SignalAll();
  });
  {
    absl::MutexLock lock(&mutex);
    while (value == 0) changed.Wait(&mutex);
  }
  setter.join();
  absl::PrintF("timeouts: %d, late %d, value %d\n", timed_out, late ? 1 : 0, value);
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const int items = argc > 2 ? std::atoi(argv[2]) : 5000;
  queue(threads, items);
  readers(threads, items);
  rounds(threads);
  timeouts();
}
