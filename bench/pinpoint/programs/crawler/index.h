// Which page has which word, and what is kept of pages.
#ifndef CRAWLER_INDEX_H_
#define CRAWLER_INDEX_H_

#include <cstdint>
#include <cstdio>

#include "locks.h"
#include "parser.h"
#include "settings.h"
#include "web.h"

namespace crawler {

class Index {
 public:
  void add(const Url& url, const Parser& parts) {
    for (int word = 0; word < kWords; ++word)
      if (parts.words(word) > 0) add_word(word, url, parts.words(word));
  }
  Url best(int word) {
    const Guard guard(mutex_);
    return best_[word];
  }
  // Words that stand on the same page.
  void add_pairs(const Parser& parts) {
    const Guard guard(mutex_);
    for (int a = 0; a + 1 < kWords; ++a)
      if (parts.words(a) > 0 && parts.words(a + 1) > 0) {
        together_[a] += 1;
        pairs_ += 1;
      }
  }
  int most_often_together() {
    const Guard guard(mutex_);
    int best = 0;
    for (int a = 1; a < kWords; ++a)
      if (together_[a] > together_[best]) best = a;
    return pairs_ > 0 ? best : -1;
  }
  // The words on most pages, best first. At the end, by one thread.
  void print_best(int count) {
    const Guard guard(mutex_);
    bool printed[kWords] = {};
    for (int i = 0; i < count; ++i) {
      int best = -1;
      for (int word = 0; word < kWords; ++word)
        if (!printed[word] && (best < 0 || pages_[word] > pages_[best])) best = word;
      if (best < 0 || pages_[best] == 0) return;
      printed[best] = true;
      std::printf("%-8s on %d pages, most often (%d) on %d/%d\n", Web::word(best), pages_[best],
                  most_[best], best_[best].host(), best_[best].page());
    }
  }
  int total() {
    const Guard guard(mutex_);
    return total_;
  }

 private:
  void add_word(int word, const Url& url, int count) {
    const Guard guard(mutex_);
    total_ += count;
    pages_[word] += 1;
    if (count <= most_[word]) return;
    most_[word] = count;
    best_[word] = url;
  }

  Mutex mutex_;
  int pages_[kWords] = {};
  int most_[kWords] = {};
  Url best_[kWords];
  int together_[kWords] = {};
  int pairs_ = 0;
  int total_ = 0;
};

class PageStore {
 public:
  void keep(const Page& page) {
    const std::uint32_t sum = checksum(page);
    const Guard guard(mutex_);
    for (int i = 0; i < kept_; ++i)
      if (sums_[i] == sum) duplicates_ += 1;
    if (kept_ < kPages) sums_[kept_] = sum;
    if (kept_ < kPages) kept_ += 1;
    bytes_ += page.size();
    newest_ = page.url();
    if (page.size() > longest_) {
      longest_ = page.size();
      longest_page_ = page.url();
    }
  }
  // Where the longest page is, and whether it is the newest.
  int longest(Url& url) {
    const Guard guard(mutex_);
    url = longest_page_;
    return longest_page_ == newest_ ? -longest_ : longest_;
  }
  int kept() {
    const Guard guard(mutex_);
    return kept_;
  }
  int duplicates() {
    const Guard guard(mutex_);
    return duplicates_;
  }

 private:
  static std::uint32_t checksum(const Page& page) {
    std::uint32_t sum = 2166136261u;
    for (int i = 0; i < page.size(); ++i)
      sum = (sum ^ static_cast<unsigned char>(page.at(i))) * 16777619u;
    return sum;
  }

  Mutex mutex_;
  std::uint32_t sums_[kPages] = {};
  int kept_ = 0;
  int duplicates_ = 0;
  int bytes_ = 0;
  int longest_ = 0;
  Url newest_;
  Url longest_page_;
};

}  // namespace crawler

#endif  // CRAWLER_INDEX_H_
