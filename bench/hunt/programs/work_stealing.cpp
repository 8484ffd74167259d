// A work-stealing queue after the THE protocol of Cilk: the owner pushes and pops at the tail
// without a lock, thieves steal at the head under one. A thief must claim its item (advance the
// head) before it reads the tail; here it reads first, and owner and thief take the same item.
// ROOT CAUSE: work_stealing.cpp:41; KIND: atomicity-violation
// PREEMPTIONS: 2
// EXPECT: fail exit
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static constexpr int kNone = -1;

class Queue {
 public:
  explicit Queue(int capacity) : items_(capacity) {}

  void push(int item) {
    int tail = tail_.load();
    items_[tail] = item;
    tail_.store(tail + 1);
  }

  int pop() {
    int item = try_pop();
    if (item != kNone) return item;
    std::lock_guard lock(mutex_);  // no thief is in the middle of a steal now
    return try_pop();
  }

  int steal() {
    std::lock_guard lock(mutex_);
    int head = head_.load();
#ifdef FIXED
    head_.store(head + 1);
    if (head < tail_.load()) return items_[head];
    head_.store(head);
#else
    if (head < tail_.load()) {
      head_.store(head + 1);
      return items_[head];
    }
#endif
    return kNone;
  }

 private:
  int try_pop() {
    int tail = tail_.load() - 1;
    tail_.store(tail);
    if (head_.load() <= tail) return items_[tail];
    tail_.store(tail + 1);
    return kNone;
  }

  std::vector<int> items_;
  std::mutex mutex_;
  std::atomic<int> head_ = 0;
  std::atomic<int> tail_ = 0;
};

int main(int argc, char** argv) {
  int items = argc > 1 ? std::atoi(argv[1]) : 4;
  Queue queue(items);
  std::vector<std::atomic<int>> taken(items);

  std::thread owner([&] {
    for (int i = 0; i < items; i += 2) {
      queue.push(i);
      if (i + 1 < items) queue.push(i + 1);
      int item = queue.pop();
      if (item != kNone) taken[item]++;
    }
    for (int item = queue.pop(); item != kNone; item = queue.pop()) taken[item]++;
  });
  std::thread thief([&] {
    for (int i = 0; i < items; i++) {
      int item = queue.steal();
      if (item != kNone) taken[item]++;
    }
  });
  owner.join();
  thief.join();

  int wrong = 0;
  for (int i = 0; i < items; i++) wrong += taken[i] != 1;
  if (wrong != 0) std::printf("%d of %d items not taken once\n", wrong, items);
  return wrong == 0 ? 0 : 1;
}
