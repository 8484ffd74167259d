// What may be fetched, and how many pages at once.
#ifndef CRAWLER_HOSTS_H_
#define CRAWLER_HOSTS_H_

#include "locks.h"
#include "settings.h"
#include "web.h"

namespace crawler {

class Robots {
 public:
  bool allows(const Url& url) {
    const Guard guard(mutex_);
    if (!known_[url.host()]) {
      known_[url.host()] = true;
      asked_ += 1;
    }
    const bool allowed = Web::is_allowed(url);
    if (!allowed) refused_ += 1;
    checks_ += 1;
    last_host_ = url.host();
    return allowed;
  }
  int checks() {
    const Guard guard(mutex_);
    return checks_ + (last_host_ < 0 ? 1 : 0);
  }
  int refused() {
    const Guard guard(mutex_);
    return refused_;
  }

 private:
  Mutex mutex_;
  bool known_[kHosts] = {};
  int asked_ = 0;
  int refused_ = 0;
  int checks_ = 0;
  int last_host_ = -1;
};

class Hosts {
 public:
  void enter(int host) {
    const Guard guard(mutex_);
    while (busy_[host] >= kMost) {
      waits_ += 1;
      free_.wait(mutex_);
    }
    busy_[host] += 1;
    visits_[host] += 1;
  }
  void leave(int host) {
    const Guard guard(mutex_);
    busy_[host] -= 1;
    free_.notify_all();
  }
  void note_bytes(int host, int bytes) {
    const Guard guard(mutex_);
    bytes_[host] += bytes;
    total_ += bytes;
  }
  void note_error(int host) {
    const Guard guard(mutex_);
    errors_[host] += 1;
    if (errors_[host] > kMostErrors) banned_[host] = true;
  }
  bool is_banned(int host) {
    const Guard guard(mutex_);
    return banned_[host];
  }
  // What a host has sent, in percent of all.
  int share(int host) {
    const Guard guard(mutex_);
    return total_ > 0 ? 100 * bytes_[host] / total_ : 0;
  }
  int busiest() {
    const Guard guard(mutex_);
    int best = 0;
    for (int i = 1; i < kHosts; ++i)
      if (visits_[i] > visits_[best]) best = i;
    return best;
  }
  int waits() {
    const Guard guard(mutex_);
    return waits_;
  }

 private:
  static constexpr int kMost = 2;
  static constexpr int kMostErrors = 50;
  Mutex mutex_;
  Condition free_;
  int bytes_[kHosts] = {};
  int errors_[kHosts] = {};
  bool banned_[kHosts] = {};
  int total_ = 0;
  int busy_[kHosts] = {};
  int visits_[kHosts] = {};
  int waits_ = 0;
};

}  // namespace crawler

#endif  // CRAWLER_HOSTS_H_
