// fail/atomicity_violation_string.cpp, fixed: the other buffer gives out all of its characters in
// one step.
// EXPECT: pass
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

class StringBuffer {
 public:
  explicit StringBuffer(std::string text) : text_(std::move(text)) {}

  std::size_t length() {
    std::lock_guard lock(mutex_);
    return text_.size();
  }

  std::string characters() {
    std::lock_guard lock(mutex_);
    return text_;
  }

  void truncate(std::size_t count) {
    std::lock_guard lock(mutex_);
    text_.resize(count);
  }

  void append(StringBuffer& other) {
    std::string addition = other.characters();
    std::lock_guard lock(mutex_);
    text_ += addition;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

int main(int argc, char** argv) {
  std::size_t length = argc > 1 ? std::atoi(argv[1]) : 8;
  StringBuffer source(std::string(length, 'x'));
  StringBuffer target("text: ");
  std::thread appender([&] { target.append(source); });
  std::thread cutter([&] { source.truncate(0); });
  appender.join();
  cutter.join();
  std::printf("target has %zu characters\n", target.length());
  return source.length() == 0 ? 0 : 1;
}
