// Three clerks take letters from their mailboxes, and a porter brings them and closes the mailboxes at the end. Mailbox::close sets
// `closed_` without the lock: if a clerk has looked at it and does not wait yet, the notification is lost and the clerk waits
// for ever (deadlock).
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Letter {
  int number = 0;
  int room = 0;
  bool registered = false;
};

class Mailbox {
 public:
  void put(const Letter& letter) {
    std::lock_guard<std::mutex> lock(mutex_);
    letters_.push_back(letter);
    changed_.notify_one();
  }
  // False: it is closed and empty.
  bool take(Letter& letter) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (letters_.empty() && !is_closed()) {
      changed_.wait(lock);
    }
    if (letters_.empty()) {
      return false;
    }
    letter = letters_.front();
    letters_.pop_front();
    return true;
  }
  void close();
  bool is_closed() const { return closed_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Letter> letters_;
  std::atomic<bool> closed_{false};
};

void Mailbox::close() {
#ifdef FIXED
  std::lock_guard<std::mutex> lock(mutex_);
#endif
  closed_ = true;
  changed_.notify_all();
}

class Ledger {
 public:
  void sign(const Letter& letter) {
    std::lock_guard<std::mutex> lock(mutex_);
    signed_.push_back(letter.number);
  }
  std::size_t count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return signed_.size();
  }

 private:
  std::mutex mutex_;
  std::vector<int> signed_;
};

class Clerk {
 public:
  Clerk(Mailbox& box, Ledger& ledger) : box_(box), ledger_(ledger) {}
  void run() {
    Letter letter;
    while (box_.take(letter)) {
      open(letter);
    }
  }
  int opened() const { return opened_; }

 private:
  void open(const Letter& letter) {
    ++opened_;
    if (letter.registered) {
      ledger_.sign(letter);
    }
    sum_ = sum_ * 31 + static_cast<unsigned>(letter.number);
  }
  Mailbox& box_;
  Ledger& ledger_;
  int opened_ = 0;
  unsigned sum_ = 0;
};

class Porter {
 public:
  explicit Porter(std::vector<std::unique_ptr<Mailbox>>& boxes) : boxes_(boxes) {}
  void run() {
    for (int i = 0; i < 7; ++i) {
      deliver({i, room_of(i), i % 3 == 0});
    }
    for (const auto& box : boxes_) {
      box->close();
    }
  }

 private:
  int room_of(int number) const { return (number * 5 + 2) % static_cast<int>(boxes_.size()); }
  void deliver(const Letter& letter) {
    boxes_[static_cast<std::size_t>(letter.room)]->put(letter);
    ++delivered_;
  }
  std::vector<std::unique_ptr<Mailbox>>& boxes_;
  int delivered_ = 0;
};

int main() {
  Ledger ledger;
  std::vector<std::unique_ptr<Mailbox>> boxes;
  std::vector<std::unique_ptr<Clerk>> clerks;
  for (int i = 0; i < 3; ++i) {
    boxes.push_back(std::make_unique<Mailbox>());
    clerks.push_back(std::make_unique<Clerk>(*boxes.back(), ledger));
  }
  std::vector<std::thread> threads;
  for (const auto& clerk : clerks) {
    threads.emplace_back(&Clerk::run, clerk.get());
  }
  Porter porter(boxes);
  threads.emplace_back(&Porter::run, &porter);
  for (std::thread& thread : threads) {
    thread.join();
  }
  int opened = 0;
  for (const auto& clerk : clerks) {
    opened += clerk->opened();
  }
  std::printf("%d letters, %zu signed\n", opened, ledger.count());
  return opened == 7 ? 0 : 1;
}
