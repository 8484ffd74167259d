// What is counted.
#ifndef CRAWLER_STATISTICS_H_
#define CRAWLER_STATISTICS_H_

#include <cstdio>

#include "locks.h"
#include "settings.h"

namespace crawler {

class Statistics {
 public:
  void count_fetch(int bytes) {
    const Guard guard(mutex_);
    fetches_ += 1;
    bytes_ += bytes;
  }
  void count_page(int depth) {
    const Guard guard(mutex_);
    pages_ += 1;
    if (depth > deepest_) deepest_ = depth;
    changed_.notify_all();
  }
  void count_error() {
    const Guard guard(mutex_);
    errors_ += 1;
  }
  // How pages are distributed by depth and by size.
  void count_shape(int depth, int size) {
    const Guard guard(mutex_);
    by_depth_[depth <= kMostDepth ? depth : kMostDepth] += 1;
    const int bucket = size / 64 < kSizes ? size / 64 : kSizes - 1;
    by_size_[bucket] += 1;
    if (size > largest_) largest_ = size;
    if (smallest_ == 0 || size < smallest_) smallest_ = size;
  }
  void count_retry() {
    const Guard guard(mutex_);
    retries_ += 1;
    last_retry_ = pages_;
  }
  // Bytes for each page, of the pages so far.
  int mean_size() {
    const Guard guard(mutex_);
    return pages_ > 0 ? bytes_ / pages_ : 0;
  }
  int deepest() {
    const Guard guard(mutex_);
    return deepest_;
  }
  void count_links(int links) {
    const Guard guard(mutex_);
    links_ += links;
  }
  void wait_for_pages(int pages) {
    const Guard guard(mutex_);
    while (pages_ < pages && !over_) changed_.wait(mutex_);
  }
  void end() {
    const Guard guard(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  int pages() {
    const Guard guard(mutex_);
    return pages_;
  }
  int errors() {
    const Guard guard(mutex_);
    return errors_;
  }
  // How many pages there are of each depth and of each size, as bars. At the end, by one thread.
  void print_shapes() {
    const Guard guard(mutex_);
    for (int depth = 0; depth <= kMostDepth; ++depth) print_bar("depth", depth, by_depth_[depth]);
    for (int size = 0; size < kSizes; ++size) print_bar("size", 64 * size, by_size_[size]);
    std::printf("largest %d, smallest %d, %d retries\n", largest_, smallest_, retries_);
  }
  void print() {
    const Guard guard(mutex_);
    std::printf("%d pages, %d fetches, %d bytes, %d links, %d errors, depth %d\n", pages_, fetches_,
                bytes_, links_, errors_, deepest_);
  }

 private:
  static void print_bar(const char* what, int from, int count) {
    if (count == 0) return;
    std::printf("%s %3d: %3d ", what, from, count);
    for (int i = 0; i < count; ++i) std::putchar('#');
    std::putchar('\n');
  }

  Mutex mutex_;
  Condition changed_;
  int pages_ = 0;
  int fetches_ = 0;
  int errors_ = 0;
  int bytes_ = 0;
  int links_ = 0;
  int deepest_ = 0;
  static constexpr int kSizes = 8;
  int by_depth_[kMostDepth + 1] = {};
  int by_size_[kSizes] = {};
  int largest_ = 0;
  int smallest_ = 0;
  int retries_ = 0;
  int last_retry_ = 0;
  bool over_ = false;
};

}  // namespace crawler

#endif  // CRAWLER_STATISTICS_H_
