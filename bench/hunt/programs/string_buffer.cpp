// The string buffer of an old Java library: `append` asks the other buffer for its length and then
// for that many characters. Both calls lock, but between them the other buffer can shrink. It has
// its length back soon after, as in the published program: the two threads must alternate twice.
// ROOT CAUSE: string_buffer.cpp:45; KIND: atomicity-violation
// PREEMPTIONS: 2
// EXPECT: fail exception
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

class StringBuffer {
 public:
  StringBuffer() = default;
  explicit StringBuffer(const char* text) : text_(text) {}

  std::size_t length() {
    std::lock_guard lock(mutex_);
    return text_.size();
  }

  void copy_characters(std::size_t from, std::size_t end, std::string& to) {
    std::lock_guard lock(mutex_);
    if (from > end || end > text_.size()) throw std::out_of_range("copy_characters");
    to.append(text_, from, end - from);
  }

  void erase(std::size_t from, std::size_t end) {
    std::lock_guard lock(mutex_);
    if (end > text_.size()) end = text_.size();
    if (from < end) text_.erase(from, end - from);
  }

  void append(const char* text) {
    std::lock_guard lock(mutex_);
    text_.append(text, std::strlen(text));
  }

  void append(StringBuffer& other) {
    std::lock_guard lock(mutex_);
#ifdef FIXED
    std::lock_guard other_lock(other.mutex_);
#endif
    std::size_t count = other.length();
    other.copy_characters(0, count, text_);
  }

 private:
  std::recursive_mutex mutex_;
  std::string text_;
};

int main() {
  StringBuffer source("abc");
  std::thread writer([&] {
    source.erase(0, 3);
    source.append("abc");
  });
  StringBuffer target;
  target.append(source);
  writer.join();
  return 0;
}
