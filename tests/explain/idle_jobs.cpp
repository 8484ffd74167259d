// A job system counts what was started and what was finished, and is idle when both are equal. The number of started jobs is read first: a job that is started, and another
// that ends, before the second number is read make it look idle.
// ROOT CAUSE: idle_jobs.cpp:22 (read first), idle_jobs.cpp:23 (read second); KIND: order-violation or atomicity-violation
// SAYS: (goes by|which reads) `counter\.started_`,?
#include <atomic>
#include <cassert>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

class JobCounter {
 public:
  void started() { started_.fetch_add(1); }
  void finished() { finished_.fetch_add(1); }
  bool idle() const {
#ifdef FIXED
    int finished = finished_.load();
    return started_.load() == finished;
#else
    int started = started_.load();
    return started == finished_.load();
#endif
  }

 private:
  std::atomic<int> started_{0};
  std::atomic<int> finished_{0};
};

class Job {
 public:
  Job(JobCounter& counter, std::function<void()> work)
      : counter_(counter), work_(std::move(work)) {}
  void run() {
    counter_.started();
    work_();
    counter_.finished();
  }

 private:
  JobCounter& counter_;
  std::function<void()> work_;
};

class Resources {
 public:
  Resources() : table_(std::make_unique<std::vector<int>>(4, 1)) {}
  int use(std::size_t index) {
    assert(open_.load() && "resources used after they were released");
    return (*table_)[index];
  }
  void release() { open_.store(false); }

 private:
  std::unique_ptr<std::vector<int>> table_;
  std::atomic<bool> open_{true};
};

class Supervisor {
 public:
  Supervisor(const JobCounter& counter, Resources& resources)
      : counter_(counter), resources_(resources) {}
  void poll(int times) {
    for (int i = 0; i < times; i++) {
      if (!counter_.idle()) continue;
      resources_.release();
      return;
    }
  }

 private:
  const JobCounter& counter_;
  Resources& resources_;
};

int main() {
  JobCounter counter;
  Resources resources;
  std::atomic<long> sum{0};
  Job longer(counter, [&] {
    for (std::size_t i = 0; i < 3; i++) sum += resources.use(i);
  });
  Job shorter(counter, [&] { sum += 1; });
  counter.started();
  Supervisor supervisor(counter, resources);
  std::thread work([&] {
    std::thread helper([&] { shorter.run(); });
    longer.run();
    helper.join();
    counter.finished();
  });
  std::thread watch([&] { supervisor.poll(2); });
  work.join();
  watch.join();
  std::printf("%ld\n", sum.load());
}
