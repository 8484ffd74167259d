// Three threads append lines to a log; whoever fills the buffer flushes it. EventLog::flush copies the lines and clears the
// buffer without the lock that append holds, so that lines which come in between are lost, or written twice. Exits with
// 1 if the number of lines in the file is not the number of lines appended.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

enum class Level { kDebug, kInfo, kError };

class Formatter {
 public:
  std::string line(Level level, int thread, const std::string& text) const {
    return prefix(level) + std::to_string(thread) + ": " + text;
  }

 private:
  std::string prefix(Level level) const {
    switch (level) {
      case Level::kDebug:
        return "debug ";
      case Level::kInfo:
        return "info ";
      case Level::kError:
        return "error ";
    }
    return "";
  }
};

// What stands for the file.
class Sink {
 public:
  void write(const std::string& line) {
    std::lock_guard<std::mutex> lock(mutex_);
    bytes_ += line.size() + 1;
    ++lines_;
  }
  int lines() {
    std::lock_guard<std::mutex> lock(mutex_);
    return lines_;
  }
  std::size_t bytes() {
    std::lock_guard<std::mutex> lock(mutex_);
    return bytes_;
  }

 private:
  std::mutex mutex_;
  int lines_ = 0;
  std::size_t bytes_ = 0;
};

class LineBuffer {
 public:
  static constexpr int kRoom = 64;
  void add(const std::string& line) {
    if (used_ < kRoom) {
      lines_[used_] = line;
      used_ = used_ + 1;
    }
  }
  int size() const { return used_; }
  const std::string& at(int i) const { return lines_[i]; }
  void clear() { used_ = 0; }

 private:
  std::string lines_[kRoom];
  int used_ = 0;
};

class EventLog {
 public:
  explicit EventLog(int flush_at) : flush_at_(flush_at) {}
  void append(Level level, int thread, const std::string& text);
  void flush();
  int written() { return sink_.lines(); }
  std::size_t bytes() { return sink_.bytes(); }

 private:
  bool is_wanted(Level level) const { return level >= least_; }
  const int flush_at_;
  const Level least_ = Level::kInfo;
  std::mutex mutex_;
  LineBuffer buffer_;
  Formatter formatter_;
  Sink sink_;
};

void EventLog::append(Level level, int thread, const std::string& text) {
  if (!is_wanted(level)) {
    return;
  }
  bool is_full = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    buffer_.add(formatter_.line(level, thread, text));
    is_full = buffer_.size() >= flush_at_;
  }
  if (is_full) {
    flush();
  }
}

void EventLog::flush() {
#ifdef FIXED
  std::lock_guard<std::mutex> lock(mutex_);
#endif
  const int count = buffer_.size();
  for (int i = 0; i < count; ++i) {
    sink_.write(buffer_.at(i));
  }
  buffer_.clear();
}

class Source {
 public:
  Source(EventLog& log, int number) : log_(log), number_(number) {}
  void run() {
    for (int i = 0; i < 5; ++i) {
      measure(i);
    }
  }
  int told() const { return told_; }

 private:
  void measure(int i) {
    const int value = (number_ * 37 + i * 11) % 20;
    if (value > 15) {
      tell(Level::kError, value);
    } else {
      tell(Level::kInfo, value);
    }
    log_.append(Level::kDebug, number_, "measured");
  }
  void tell(Level level, int value) {
    ++told_;
    log_.append(level, number_, "value " + std::to_string(value));
  }
  EventLog& log_;
  const int number_;
  int told_ = 0;
};

int main() {
  EventLog log(4);
  std::vector<Source> sources;
  for (int i = 0; i < 3; ++i) {
    sources.emplace_back(log, i);
  }
  std::vector<std::thread> threads;
  for (Source& source : sources) {
    threads.emplace_back(&Source::run, &source);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  log.flush();
  int told = 0;
  for (const Source& source : sources) {
    told += source.told();
  }
  std::printf("%d told, %d written, %zu bytes\n", told, log.written(), log.bytes());
  return told == log.written() ? 0 : 1;
}
