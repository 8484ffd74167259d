// An event loop in epoll_wait that is woken only if it says that it sleeps, and says so without looking at its tasks again: a task that is posted in
// between wakes nobody.
// ROOT CAUSE: event_loop.cpp:39, event_loop.cpp:44, event_loop.cpp:52; KIND: lost-wakeup or order-violation
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

class EventLoop {
 public:
  using Task = std::function<void()>;

  EventLoop() : epoll_(epoll_create1(0)), wake_(eventfd(0, EFD_NONBLOCK)) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = wake_;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0)
      throw std::system_error(errno, std::generic_category());
  }
  ~EventLoop() {
    close(wake_);
    close(epoll_);
  }

  void post(Task task) {
    {
      std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    if (sleeping_.load()) wake();
  }

  void run() {
    while (!stopped_) {
      drain();
#ifdef FIXED
      {
        std::lock_guard lock(mutex_);
        if (!tasks_.empty()) continue;
        sleeping_.store(true);
      }
#else
      sleeping_.store(true);
#endif
      if (stopped_) break;
      poll();
      sleeping_.store(false);
    }
  }

  void stop() { stopped_ = true; }

 private:
  void wake() {
    std::uint64_t one = 1;
    if (write(wake_, &one, sizeof one) != sizeof one) std::perror("write");
  }

  void poll() {
    epoll_event events[4];
    int ready = epoll_wait(epoll_, events, 4, -1);
    for (int i = 0; i < ready; i++) {
      std::uint64_t count = 0;
      if (read(events[i].data.fd, &count, sizeof count) < 0) std::perror("read");
    }
  }

  void drain() {
    for (;;) {
      Task task;
      {
        std::lock_guard lock(mutex_);
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  int epoll_;
  int wake_;
  std::mutex mutex_;
  std::deque<Task> tasks_;
  std::atomic<bool> sleeping_{false};
  bool stopped_ = false;
};

struct Progress {
  int finished = 0;
};

static void worker(EventLoop& loop, Progress& progress, int number, int of) {
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += number * i;
  loop.post([&loop, &progress, sum, of] {
    progress.finished++;
    if (sum < 0) std::puts("overflow");
    if (progress.finished == of) loop.stop();
  });
}

int main() {
  EventLoop loop;
  Progress progress;
  constexpr int kWorkers = 2;
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; i++)
    workers.emplace_back(worker, std::ref(loop), std::ref(progress), i, kWorkers);
  loop.run();
  for (auto& one : workers) one.join();
  std::printf("%d finished\n", progress.finished);
  return progress.finished == kWorkers ? 0 : 1;
}
