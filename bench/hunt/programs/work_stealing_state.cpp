// A work-stealing queue whose items have a state. The owner, here the main thread, pushes and pops
// at the tail, in the common case without a lock; a thief steals at the head, under one. For the
// last item each must make its claim (move its end) before it looks at the other's: a pop looks
// first, and owner and thief take the same item. The queue grows from a capacity of two.
// ROOT CAUSE: work_stealing_state.cpp:41; KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

enum State { kNew, kQueued, kTaken, kDone };

struct Item {
  std::atomic<int> state = kNew;

  void work() {
    int expected = kQueued;
    bool first = state.compare_exchange_strong(expected, kTaken);
    assert(first);
    state.store(kDone);
  }
};

class Queue {
 public:
  void push(Item* item) {
    item->state.store(kQueued);
    long tail = tail_.load();
    if (tail - head_.load() >= capacity() - 1) grow();
    items_[tail % capacity()] = item;
    tail_.store(tail + 1);
  }

  Item* pop() {
    long tail = tail_.load() - 1;
#ifndef FIXED
    long head = head_.load();
    tail_.store(tail);
#else
    tail_.store(tail);
    long head = head_.load();
#endif
    if (head <= tail) return items_[tail % capacity()];
    tail_.store(tail + 1);
    std::lock_guard lock(mutex_);  // no thief is in the middle of a steal now
    if (head_.load() > tail) return nullptr;
    tail_.store(tail);
    return items_[tail % capacity()];
  }

  Item* steal() {
    std::lock_guard lock(mutex_);
    long head = head_.load();
    head_.store(head + 1);
    if (head < tail_.load()) return items_[head % capacity()];
    head_.store(head);
    return nullptr;
  }

 private:
  long capacity() const { return static_cast<long>(items_.size()); }

  void grow() {
    std::lock_guard lock(mutex_);
    std::vector<Item*> larger(2 * items_.size());
    for (long i = head_.load(); i < tail_.load(); i++)
      larger[i % static_cast<long>(larger.size())] = items_[i % capacity()];
    items_.swap(larger);
  }

  std::vector<Item*> items_ = std::vector<Item*>(2);
  std::mutex mutex_;
  std::atomic<long> head_ = 0;
  std::atomic<long> tail_ = 0;
};

int main(int argc, char** argv) {
  int items = argc > 1 ? std::atoi(argv[1]) : 4;
  int steals = argc > 2 ? std::atoi(argv[2]) : 2;
  Queue queue;
  std::vector<Item> all(items);
  std::thread thief([&] {
    for (int i = 0; i < steals; i++)
      if (Item* item = queue.steal()) item->work();
  });
  for (int i = 0; i + 1 < items; i += 2) {
    queue.push(&all[i]);
    queue.push(&all[i + 1]);
    if (Item* item = queue.pop()) item->work();
  }
  for (int i = 0; i < items / 2; i++)
    if (Item* item = queue.pop()) item->work();
  thief.join();
  return 0;
}
