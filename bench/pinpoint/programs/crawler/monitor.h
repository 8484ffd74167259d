// Watches the progress.
#ifndef CRAWLER_MONITOR_H_
#define CRAWLER_MONITOR_H_

#include <pthread.h>

#include <cstdlib>

#include "shared.h"

namespace crawler {

class Monitor {
 public:
  void start() {
    if (pthread_create(&thread_, nullptr, &Monitor::run, this) != 0) std::exit(2);
  }
  void set_interval(int pages) { interval_ = pages; }
  void join() { pthread_join(thread_, nullptr); }
  int lines() const { return lines_; }

 private:
  static constexpr int kPagesBetweenLines = 3;

  static void* run(void* self) {
    static_cast<Monitor*>(self)->watch();
    return nullptr;
  }

  void watch() {
    const int at_first = seen.count() + statistics.errors() + frontier.longest() + robots.checks() +
                         hosts.share(0) + store.kept();
#ifdef SECOND_BUG
    // The second bug: the interval is set by whoever has started the monitor.
    const int interval = interval_;
    if (interval == 0) std::_Exit(4);
#else
    const int interval = kPagesBetweenLines;
#endif
    for (int pages = interval; pages <= kPages; pages += interval) {
      statistics.wait_for_pages(pages);
      take_snapshot();
      lines_ = lines_ + 1;
    }
    first_ = at_first;
  }

  // What a person at a terminal would see.
  void take_snapshot() {
    Url longest;
    shown_ += statistics.mean_size() + statistics.deepest() + frontier.longest() + robots.checks();
    shown_ += hosts.share(0) + pool.given_back() + store.longest(longest) +
              word_index.most_often_together();
    shown_ += longest.page();
  }

  pthread_t thread_{};
  volatile int interval_ = 0;
  int shown_ = 0;
  int lines_ = 0;
  int first_ = 0;
};

}  // namespace crawler

#endif  // CRAWLER_MONITOR_H_
