// fail/uncaught_exception_race.cpp, fixed: a worker looks for a task and takes it in one locked
// step.
// EXPECT: pass
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

class TaskList {
 public:
  void add(int task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(task);
  }

  std::optional<int> take() {
    std::lock_guard lock(mutex_);
    if (tasks_.empty()) return std::nullopt;
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
  while (std::optional<int> task = tasks.take()) {
    sum += *task;
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
