// Workers that wait for jobs behind an `if` of two conditions. Behind the wait they look at one of the two again, and take from a queue that another
// worker has emptied.
// ROOT CAUSE: job_board.cpp:30 (an `if` in the place of a `while`); KIND: atomicity-violation
// FLAGS: -O0
// SAYS: returns from its wait at job_board\.cpp:30 .* and does not look at `queue\.jobs_` again
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Job {
  int id;
  std::string text;
};
class JobQueue {
 public:
  void push(std::unique_ptr<Job> job) {
    std::lock_guard guard(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_all();
  }
  std::unique_ptr<Job> pop() {
    std::unique_lock lock(mutex_);
#ifdef FIXED
    while (jobs_.empty() && !closed_) changed_.wait(lock);
#else
    if (jobs_.empty() && !closed_) changed_.wait(lock);
#endif
    if (closed_ && jobs_.empty()) return nullptr;
    std::unique_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }
  void close() {
    std::lock_guard guard(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Job>> jobs_;
  bool closed_ = false;
};
class Worker {
 public:
  explicit Worker(JobQueue& queue) : queue_(queue) {}
  void run() {
    while (auto job = queue_.pop()) letters_ += job->text.size();
  }
  std::size_t letters() const { return letters_; }

 private:
  JobQueue& queue_;
  std::size_t letters_ = 0;
};
int main() {
  JobQueue queue;
  Worker one(queue), two(queue);
  std::thread a([&] { one.run(); });
  std::thread b([&] { two.run(); });
  const char* words[] = {"alpha", "be", "gamma"};
  for (int i = 0; i < 3; ++i) queue.push(std::make_unique<Job>(Job{i, words[i]}));
  queue.close();
  a.join();
  b.join();
  std::printf("%zu\n", one.letters() + two.letters());
}
