// What has been seen, and what is to be crawled.
#ifndef CRAWLER_FRONTIER_H_
#define CRAWLER_FRONTIER_H_

#include "locks.h"
#include "settings.h"
#include "web.h"

namespace crawler {

class SeenUrls {
 public:
  // Whether it is new.
  bool add(const Url& url) {
    const Guard guard(mutex_);
    if (seen_[url.number()]) {
      repeated_ += 1;
      return false;
    }
    seen_[url.number()] = true;
    count_ += 1;
    return true;
  }
  void forget(const Url& url) {
    const Guard guard(mutex_);
    seen_[url.number()] = false;
    count_ -= 1;
  }
  int count() {
    const Guard guard(mutex_);
    return count_;
  }
  int repeated() {
    const Guard guard(mutex_);
    return repeated_;
  }

 private:
  Mutex mutex_;
  bool seen_[kHosts * kPageNumbers] = {};
  int count_ = 0;
  int repeated_ = 0;
};

class Frontier {
 public:
  void push(const Url& url, int depth, int retries) {
    const Guard guard(mutex_);
    if (closed_ || size_ == kRoom) return;
    Entry& entry = entries_[(first_ + size_) % kRoom];
    entry.url = url;
    entry.depth = depth;
    entry.retries = retries;
    size_ += 1;
    pushed_ += 1;
    if (size_ > longest_) longest_ = size_;
    if (depth <= 1) shallow_ += 1;
    ready_.notify_one();
  }
  int longest() {
    const Guard guard(mutex_);
    return longest_;
  }
  int pushed() {
    const Guard guard(mutex_);
    return pushed_ + shallow_;
  }
  // False: there is nothing more to do.
  bool pop(Url& url, int& depth, int& retries) {
    const Guard guard(mutex_);
    while (size_ == 0 && !closed_ && busy_ > 0) ready_.wait(mutex_);
    if (size_ == 0 || closed_ || left_ == 0) {
      closed_ = true;
      ready_.notify_all();
      return false;
    }
    const Entry& entry = entries_[first_];
    url = entry.url;
    depth = entry.depth;
    retries = entry.retries;
    first_ = (first_ + 1) % kRoom;
    size_ -= 1;
    left_ -= 1;
    busy_ += 1;
    return true;
  }
  void done() {
    const Guard guard(mutex_);
    busy_ -= 1;
    if (busy_ == 0 && size_ == 0) {
      closed_ = true;
      ready_.notify_all();
    }
  }

 private:
  static constexpr int kRoom = 64;
  struct Entry {
    Url url;
    int depth = 0;
    int retries = 0;
  };
  Mutex mutex_;
  Condition ready_;
  Entry entries_[kRoom];
  int first_ = 0;
  int size_ = 0;
  int left_ = kPages;
  int busy_ = 0;
  int pushed_ = 0;
  int shallow_ = 0;
  int longest_ = 0;
  bool closed_ = false;
};

}  // namespace crawler

#endif  // CRAWLER_FRONTIER_H_
