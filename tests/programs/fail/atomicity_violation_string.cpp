// A string buffer whose every method is locked. `append` asks the other buffer for its length and
// then for that many characters; if the other is shortened in between, the second call throws.
// ROOT CAUSE: atomicity_violation_string.cpp:35; KIND: atomicity-violation
// PREEMPTIONS: 1
// EXPECT: fail exception
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

class StringBuffer {
 public:
  explicit StringBuffer(std::string text) : text_(std::move(text)) {}

  std::size_t length() {
    std::lock_guard lock(mutex_);
    return text_.size();
  }

  std::string characters(std::size_t count) {
    std::lock_guard lock(mutex_);
    if (count > text_.size()) throw std::out_of_range("StringBuffer::characters");
    return text_.substr(0, count);
  }

  void truncate(std::size_t count) {
    std::lock_guard lock(mutex_);
    text_.resize(count);
  }

  void append(StringBuffer& other) {
    std::size_t count = other.length();
    std::string addition = other.characters(count);
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
