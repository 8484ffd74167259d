// A work-stealing deque that grows. Capacity and array are published one after the other, and a flag says
// that they are about to change: a thief looks at it before and after it has read both. It may have been
// set and cleared in between, and the thief looks in the old array with the capacity of the new one.
// ROOT CAUSE: growing_deque.cpp:73; KIND: atomicity-violation
// PREEMPTIONS: 1
// CHOICES: 1 (who runs when the owner waits)
// EXPECT: fail assert
#include <array>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

struct Task {
  std::atomic<int> runs = 0;
};

class Deque {
 public:
  static constexpr long kSmall = 2;
  static constexpr long kLarge = 8;

  Deque()
      : arrays_{std::vector<std::atomic<Task*>>(kLarge), std::vector<std::atomic<Task*>>(kLarge)} {}

  void push(Task* task) {
    const long bottom = bottom_.load();
    if (bottom - top_.load() >= capacity_.load()) grow();
    slot(array_.load(), capacity_.load(), bottom).store(task);
    bottom_.store(bottom + 1);
  }

  Task* pop() {
    const std::lock_guard lock(taking_);
    const long bottom = bottom_.load() - 1;
    if (bottom < top_.load()) return nullptr;
    bottom_.store(bottom);
    return slot(array_.load(), capacity_.load(), bottom).load();
  }

  Task* steal() {
    const std::lock_guard lock(taking_);
    const long top = top_.load();
    if (top >= bottom_.load()) return nullptr;
    const View view = consistent_view();
    Task* task = slot(view.array, view.capacity, top).load();
    assert(task != nullptr);
    top_.store(top + 1);
    return task;
  }

 private:
  struct View {
    long capacity;
    std::size_t array;
  };

  std::atomic<Task*>& slot(std::size_t array, long capacity, long index) {
    return arrays_[array][static_cast<std::size_t>(index % capacity)];
  }

  View consistent_view() {
    for (;;) {
#ifdef FIXED
      const long version = version_.load();
      const View view{capacity_.load(), array_.load()};
      if (version % 2 == 0 && version_.load() == version) return view;
#else
      if (growing_.load()) continue;
      const View view{capacity_.load(), array_.load()};
      if (!growing_.load()) return view;
#endif
      std::this_thread::yield();
    }
  }

  void grow() {
    growing_.store(true);
    version_.fetch_add(1);
    for (long i = top_.load(); i < bottom_.load(); ++i)
      slot(1, kLarge, i).store(slot(0, kSmall, i).load());
    capacity_.store(kLarge);
    array_.store(1);
    version_.fetch_add(1);
    growing_.store(false);
  }

  std::array<std::vector<std::atomic<Task*>>, 2> arrays_;
  std::atomic<long> capacity_ = kSmall;
  std::atomic<std::size_t> array_ = 0;
  std::atomic<long> top_ = 0;
  std::atomic<long> bottom_ = 0;
  std::atomic<bool> growing_ = false;
  std::atomic<long> version_ = 0;
  std::mutex taking_;
};

int main(int argc, char** argv) {
  const int thieves = argc > 1 ? std::atoi(argv[1]) : 2;
  Deque deque;
  std::vector<Task> tasks(7);
  const auto run = [](Task* task) {
    if (task != nullptr) assert(task->runs.fetch_add(1) == 0);
  };
  std::size_t pushed = 0;
  while (pushed < 2) deque.push(&tasks[pushed++]);
  while (Task* task = deque.steal()) run(task);
  deque.push(&tasks[pushed++]);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    while (pushed < tasks.size()) deque.push(&tasks[pushed++]);
    run(deque.pop());
    run(deque.pop());
  });
  for (int i = 0; i < thieves; ++i)
    threads.emplace_back([&] {
      run(deque.steal());
      run(deque.steal());
    });
  for (std::thread& thread : threads) thread.join();
}
