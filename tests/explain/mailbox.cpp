// A mailbox for one letter: the reader waits for the postman, who signals once the letter lies there.
// The reader waits without looking whether there is a letter: a spurious wake-up lets it read an empty box.
// ROOT CAUSE: mailbox.cpp:41; KIND: choice
// SAYS: ends without a signal, and T0.2 does not look at `office.box_.full_` again
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

struct Letter {
  char from[16] = "";
  int pages = 0;
};

class Mailbox {
 public:
  void put(const char* from, int pages) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (full_) emptied_.wait(lock);
    std::strncpy(letter_.from, from, sizeof letter_.from - 1);
    letter_.pages = pages;
    full_ = true;
    filled_.notify_one();
  }

  void expect() {
    std::lock_guard<std::mutex> guard(mutex_);
    expected_ = true;
    expecting_.notify_one();
  }

  Letter take() {
    std::unique_lock<std::mutex> lock(mutex_);
    expected_ = true;
    expecting_.notify_one();
#ifdef FIXED
    while (!full_) filled_.wait(lock);
#else
    if (!full_) filled_.wait(lock);
#endif
    Letter letter = letter_;
    letter_ = Letter();
    full_ = false;
    expected_ = false;
    emptied_.notify_one();
    return letter;
  }

  void wait_for_reader() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!expected_) expecting_.wait(lock);
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::condition_variable expecting_;
  Letter letter_;
  bool full_ = false;
  bool expected_ = false;
};

class Office {
 public:
  void deliver() {
    const char* names[] = {"ann", "bob", "cy"};
    for (int i = 0; i < 3; ++i) {
      box_.wait_for_reader();
      box_.put(names[i], i + 1);
    }
  }
  void read_all() {
    for (int i = 0; i < 3; ++i) {
      const Letter letter = box_.take();
      pages_ += letter.pages;
      if (letter.pages == 0) ++blank_;
    }
  }
  int pages() const { return pages_; }
  int blank() const { return blank_; }

 private:
  Mailbox box_;
  int pages_ = 0;
  int blank_ = 0;
};

int main() {
  Office office;
  std::thread postman([&] { office.deliver(); });
  std::thread reader([&] { office.read_all(); });
  reader.join();
  if (office.blank() > 0) {
    std::fprintf(stderr, "%d blank letters\n", office.blank());
    std::_Exit(3);
  }
  postman.join();
  return office.pages() == 6 ? 0 : 1;
}
