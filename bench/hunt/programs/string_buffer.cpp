// The string buffer of an old Java library: `append` asks the other buffer for its length and then
// for that many characters. Both calls lock, but between them the other buffer can shrink.
// ROOT CAUSE: string_buffer.cpp:36
// PREEMPTIONS: 1
// EXPECT: fail exception
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

class StringBuffer {
 public:
  explicit StringBuffer(const char* text) : text_(text) {}

  std::size_t length() {
    std::lock_guard lock(mutex_);
    return text_.size();
  }

  std::string first_characters(std::size_t count) {
    std::lock_guard lock(mutex_);
    if (count > text_.size()) throw std::out_of_range("first_characters");
    return text_.substr(0, count);
  }

  void erase(std::size_t count) {
    std::lock_guard lock(mutex_);
    text_.erase(0, count);
  }

  void append(StringBuffer& other) {
    std::lock_guard lock(mutex_);
#ifdef FIXED
    std::lock_guard other_lock(other.mutex_);
#endif
    std::size_t count = other.length();
    text_ += other.first_characters(count);
  }

 private:
  std::recursive_mutex mutex_;
  std::string text_;
};

int main() {
  StringBuffer target("abc");
  StringBuffer source("defghi");
  std::thread appender([&] { target.append(source); });
  std::thread eraser([&] { source.erase(3); });
  appender.join();
  eraser.join();
  return 0;
}
