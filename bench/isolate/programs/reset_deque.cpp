// A work-stealing deque after Chase and Lev (SPAA 2005) with an array that grows. An owner that has emptied
// it begins again at index 0, so that the array stays small: a thief that has read a task at that index before
// finds the same index again, and takes a task that the owner has run.
// ROOT CAUSE: reset_deque.cpp:90; KIND: atomicity-violation
// PREEMPTIONS: 2
// CHOICES: 0
// EXPECT: fail assert
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

struct Task {
  int number = 0;
  std::atomic<int> runs = 0;
};

// A circular array. The ones that were outgrown are kept: thieves may still read them.
class Ring {
 public:
  explicit Ring(long size) : slots_(static_cast<std::size_t>(size)) {}
  long size() const { return static_cast<long>(slots_.size()); }
  Task* get(long at) const { return slot(at).load(std::memory_order_relaxed); }
  void put(long at, Task* task) { slot(at).store(task, std::memory_order_relaxed); }

 private:
  std::atomic<Task*>& slot(long at) { return slots_[static_cast<std::size_t>(at % size())]; }
  const std::atomic<Task*>& slot(long at) const {
    return slots_[static_cast<std::size_t>(at % size())];
  }
  std::vector<std::atomic<Task*>> slots_;
};

class Deque {
 public:
  Deque() { ring_.store(rings_.emplace_back(std::make_unique<Ring>(2)).get()); }

  // By the owner.
  void push(Task* task) {
    const long bottom = bottom_.load();
    const long top = top_.load();
    Ring* ring = ring_.load();
    if (bottom - top >= ring->size()) ring = grow(ring, top, bottom);
    ring->put(bottom, task);
    bottom_.store(bottom + 1);
  }

  // By the owner.
  Task* pop() {
    const long bottom = bottom_.load() - 1;
    Ring* ring = ring_.load();
    bottom_.store(bottom);
    long top = top_.load();
    if (top > bottom) {
      bottom_.store(bottom + 1);
      return nullptr;
    }
    Task* task = ring->get(bottom);
    if (top < bottom) return task;
    // The last one: a thief may be after it as well.
    if (!top_.compare_exchange_strong(top, top + 1)) task = nullptr;
    bottom_.store(bottom + 1);
    start_again();
    return task;
  }

  // By anybody.
  Task* steal() {
    long top = top_.load();
    if (top >= bottom_.load()) return nullptr;
    Task* task = ring_.load()->get(top);
    if (!top_.compare_exchange_strong(top, top + 1)) return nullptr;
    return task;
  }

 private:
  Ring* grow(Ring* ring, long top, long bottom) {
    Ring* larger = rings_.emplace_back(std::make_unique<Ring>(2 * ring->size())).get();
    for (long i = top; i < bottom; ++i) larger->put(i, ring->get(i));
    ring_.store(larger);
    return larger;
  }

  // The deque is empty.
  void start_again() {
#ifndef FIXED
    bottom_.store(0);
    top_.store(0);
#endif
  }

  std::atomic<long> top_ = 0;
  std::atomic<long> bottom_ = 0;
  std::atomic<Ring*> ring_ = nullptr;
  std::vector<std::unique_ptr<Ring>> rings_;
};

class Owner {
 public:
  Owner(Deque& deque, std::vector<Task>& tasks) : deque_(deque), tasks_(tasks) {}

  // Batches of several sizes; of each all that is left is run by the owner itself.
  void work() {
    std::size_t next = 0;
    for (const std::size_t batch : {std::size_t{1}, std::size_t{3}, std::size_t{2}}) {
      for (std::size_t i = 0; i < batch && next < tasks_.size(); ++i) deque_.push(&tasks_[next++]);
      while (Task* task = deque_.pop()) run(task);
    }
  }

  static void run(Task* task) { assert(task->runs.fetch_add(1) == 0); }

 private:
  Deque& deque_;
  std::vector<Task>& tasks_;
};

int main(int argc, char** argv) {
  const int thieves = argc > 1 ? std::atoi(argv[1]) : 2;
  std::vector<Task> tasks(6);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].number = static_cast<int>(i);
  Deque deque;
  std::vector<std::thread> threads;
  threads.emplace_back([&] { Owner(deque, tasks).work(); });
  for (int i = 0; i < thieves; ++i)
    threads.emplace_back([&] {
      for (int tries = 0; tries < 3; ++tries)
        if (Task* task = deque.steal()) Owner::run(task);
    });
  for (std::thread& thread : threads) thread.join();
}
