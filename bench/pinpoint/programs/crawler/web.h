// The web, in memory: pages, links and words follow from the number of a page, so that a run needs
// nothing from outside and crawls the same pages as every other.
#ifndef CRAWLER_WEB_H_
#define CRAWLER_WEB_H_

#include <cstdint>

#include "settings.h"

namespace crawler {

class Url {
 public:
  Url() = default;
  Url(int host, int page) : host_(host), page_(page) {}

  int host() const { return host_; }
  int page() const { return page_; }
  int number() const { return host_ * kPageNumbers + page_; }
  // As "2/17". Returns the number of characters.
  int write(char* text) const {
    int size = write_number(text, host_);
    text[size++] = '/';
    return size + write_number(text + size, page_);
  }
  // False: it is none, and stays as it was.
  bool read(const char* text, int size) {
    int at = 0, host = 0, page = 0;
    if (!read_number(text, size, at, host) || at == size || text[at] != '/') return false;
    ++at;
    if (!read_number(text, size, at, page) || at != size) return false;
    host_ = host % kHosts;
    page_ = page % kPageNumbers;
    return true;
  }
  bool operator==(const Url& other) const { return number() == other.number(); }

 private:
  static int write_number(char* text, int number) {
    int size = 0;
    if (number >= 10) size = write_number(text, number / 10);
    text[size] = static_cast<char>('0' + number % 10);
    return size + 1;
  }
  static bool read_number(const char* text, int size, int& at, int& number) {
    const int begin = at;
    for (; at < size && text[at] >= '0' && text[at] <= '9'; ++at)
      number = number * 10 + (text[at] - '0');
    return at > begin;
  }

  int host_ = 0;
  int page_ = 0;
};

// What a worker has fetched. Of a fixed size, as in a crawler that must never run out of memory.
class Page {
 public:
  static constexpr int kMostText = 512;

  void begin(const Url& url, int depth) {
    url_ = url;
    depth_ = depth;
    size_ = 0;
  }
  void add(char c) {
    if (size_ < kMostText) text_[size_++] = c;
  }
  void add(const char* text) {
    for (; *text != '\0'; ++text) add(*text);
  }
  void add(const Url& url) {
    char text[16];
    const int size = url.write(text);
    for (int i = 0; i < size; ++i) add(text[i]);
  }

  const Url& url() const { return url_; }
  int depth() const { return depth_; }
  int size() const { return size_; }
  char at(int i) const { return text_[i]; }
  const char* text() const { return text_; }
  // Where `text` begins, from `from` on; the page's size if it is nowhere.
  int find(const char* text, int from) const {
    for (int i = from; i < size_; ++i) {
      int matched = 0;
      while (text[matched] != '\0' && i + matched < size_ && text_[i + matched] == text[matched])
        ++matched;
      if (text[matched] == '\0') return i;
    }
    return size_;
  }

 private:
  Url url_;
  int depth_ = 0;
  int size_ = 0;
  char text_[kMostText];
};

// The pages that there are.
class Web {
 public:
  // The same page every time.
  static void write(const Url& url, Page& page) {
    std::uint32_t state = static_cast<std::uint32_t>(url.number()) * 104729u + 12345u;
    page.add("<html><title>");
    page.add(word(url.number() % kWords));
    page.add(' ');
    page.add(word(url.page() % kWords));
    page.add("</title>");
    for (int i = 0; i < kWordsOnPage; ++i) {
      page.add(word(static_cast<int>(next(state) % kWords)));
      page.add(' ');
    }
    for (int i = 0; i < kLinksOnPage; ++i) {
      const int host = static_cast<int>(next(state) % kHosts);
      page.add("<a ");
      page.add(Url(host, static_cast<int>(next(state) % kPageNumbers)));
      page.add('>');
    }
    page.add("</html>");
  }
  // Some pages have moved to another number.
  static Url redirected(const Url& url) {
    if (url.page() % 13 != 5) return url;
    return Url(url.host(), (url.page() + 1) % kPageNumbers);
  }
  static bool is_allowed(const Url& url) { return url.page() % 11 != 7; }
  static const char* word(int number) {
    static constexpr const char* kText[kWords]{"thread", "lock",  "race",  "queue",
                                               "page",   "link",  "crawl", "index",
                                               "noise",  "delay", "point", "score"};
    return kText[number];
  }
  // kWords: there is no such word.
  static int number_of_word(const char* text, int size) {
    for (int i = 0; i < kWords; ++i)
      if (word(i)[0] == text[0] && word(i)[1] == text[1] && length(word(i)) == size) return i;
    return kWords;
  }

 private:
  static std::uint32_t next(std::uint32_t& state) {
    state = state * 1664525u + 1013904223u;
    return state >> 12;
  }
  static int length(const char* text) {
    int size = 0;
    while (text[size] != '\0') ++size;
    return size;
  }
};

}  // namespace crawler

#endif  // CRAWLER_WEB_H_
