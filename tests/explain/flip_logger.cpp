// A logger with two buffers. flush() swaps them under the lock and writes the back buffer without it; rotate() clears the back buffer, "since it has
// been written", without waiting for that: lines are lost.
// ROOT CAUSE: flip_logger.cpp:48, flip_logger.cpp:83; KIND: data-race
// SAYS: `logger\.back_`
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Sink {
 public:
  void open(int generation) {
    generation_ = generation;
    bytes_ = 0;
  }
  void write(const std::string& line) {
    bytes_ += line.size() + 1;
    lines_++;
  }
  std::size_t bytes() const { return bytes_; }
  int lines() const { return lines_; }
  int generation() const { return generation_; }

 private:
  int generation_ = 0;
  std::size_t bytes_ = 0;
  int lines_ = 0;
};

class Logger {
 public:
  Logger() : writer_([this] { loop(); }) {}

  void append(std::string line) {
    std::lock_guard lock(mutex_);
    front_.push_back(std::move(line));
    if (front_.size() >= 2) ready_.notify_one();
  }

  void rotate() {
#ifdef FIXED
    std::lock_guard writing(write_mutex_);
#endif
    std::lock_guard lock(mutex_);
    sink_.open(sink_.generation() + 1);
    back_.clear();
  }

  void close() {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    ready_.notify_one();
    writer_.join();
  }

  int written() const { return sink_.lines(); }

 private:
  void loop() {
    bool last = false;
    while (!last) {
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return closing_ || front_.size() >= 2; });
        last = closing_;
      }
      flush();
    }
  }

  void flush() {
#ifdef FIXED
    std::lock_guard writing(write_mutex_);
#endif
    {
      std::lock_guard lock(mutex_);
      front_.swap(back_);
    }
    for (std::size_t i = 0; i < back_.size(); i++) sink_.write(back_[i]);
    back_.clear();
  }

  std::mutex mutex_;
  std::mutex write_mutex_;
  std::condition_variable ready_;
  std::vector<std::string> front_;
  std::vector<std::string> back_;
  Sink sink_;
  bool closing_ = false;
  std::thread writer_;
};

int main() {
  Logger logger;
  std::thread service([&] {
    for (int i = 0; i < 4; i++) logger.append("request " + std::to_string(i));
  });
  std::thread watcher([&] { logger.rotate(); });
  service.join();
  watcher.join();
  logger.close();
  if (logger.written() != 4) {
    std::fprintf(stderr, "%d of 4 lines written\n", logger.written());
    return 2;
  }
  return 0;
}
