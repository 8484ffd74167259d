// Workers ask whether there is a task and then take it, in two locked steps. When the other worker
// takes the last task in between, `take` throws and nobody catches it.
// ROOT CAUSE: uncaught_exception_race.cpp:43 (the check), uncaught_exception_race.cpp:44 (the act); KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail exception
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

class TaskList {
 public:
  void add(int task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(task);
  }

  bool empty() {
    std::lock_guard lock(mutex_);
    return tasks_.empty();
  }

  int take() {
    std::lock_guard lock(mutex_);
    if (tasks_.empty()) throw std::runtime_error("no task to take");
    int task = tasks_.back();
    tasks_.pop_back();
    return task;
  }

 private:
  std::mutex mutex_;
  std::vector<int> tasks_;
};

static TaskList tasks;
static std::atomic<int> sum = 0;

static void work() {
  while (!tasks.empty()) {
    sum += tasks.take();
  }
}

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 3;
  for (int task = 1; task <= count; task++) tasks.add(task);
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  std::printf("sum %d\n", sum.load());
  return sum == count * (count + 1) / 2 ? 0 : 1;
}
