// Pool threads keep the current user in a thread_local that a task sets and nobody clears. A
// public task that happens to run on the thread of a private one sees its user.
// ROOT CAUSE: tls_leak.cpp:25; KIND: unknown
// PREEMPTIONS: 1
// EXPECT: fail exit
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

struct Task {
  int user;  // 0: public
};

static thread_local int current_user = 0;

static std::mutex mutex;
static std::vector<Task> tasks;
static std::atomic<int> leaks = 0;

static void run(const Task& task) {
  if (task.user != 0) {
    current_user = task.user;
    std::this_thread::yield();  // as a task that does I/O would
  } else if (current_user != 0) {
    leaks++;
  }
}

static void work() {
  for (;;) {
    Task task;
    {
      std::lock_guard lock(mutex);
      if (tasks.empty()) return;
      task = tasks.back();
      tasks.pop_back();
    }
    run(task);
  }
}

int main(int argc, char** argv) {
  int public_tasks = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int i = 0; i < public_tasks; i++) tasks.push_back(Task{0});
  tasks.push_back(Task{7});
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  std::printf("%d leaks\n", leaks.load());
  return leaks == 0 ? 0 : 1;
}
