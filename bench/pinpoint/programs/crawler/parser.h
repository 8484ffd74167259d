// The parts of a page.
#ifndef CRAWLER_PARSER_H_
#define CRAWLER_PARSER_H_

#include "settings.h"
#include "web.h"

namespace crawler {

class Parser {
 public:
  void parse(const Page& page) {
    for (int& count : words_) count = 0;
    links_ = 0;
    parse_title(page);
    while (at_ < page.size()) {
      const char c = page.at(at_);
      if (c == '<') {
        parse_tag(page);
      } else if (c >= 'a' && c <= 'z') {
        parse_word(page);
      } else {
        ++at_;
      }
    }
  }
  int links() const { return links_; }
  const Url& link(int i) const { return link_[i]; }
  // The words of the title count as several.
  bool has_title() const { return has_title_; }
  int words(int number) const { return words_[number]; }

 private:
  static constexpr int kTitleWeight = 3;

  void parse_title(const Page& page) {
    const int begin = page.find("<title>", 0);
    const int end = page.find("</title>", begin);
    has_title_ = end < page.size();
    at_ = has_title_ ? begin + 7 : 0;
    while (has_title_ && at_ < end) {
      if (page.at(at_) < 'a' || page.at(at_) > 'z') {
        ++at_;
        continue;
      }
      const int word = parse_word(page);
      if (word < kWords) words_[word] += kTitleWeight - 1;
    }
  }
  // The word's number.
  int parse_word(const Page& page) {
    char text[16];
    int size = 0;
    while (at_ < page.size() && page.at(at_) >= 'a' && page.at(at_) <= 'z') {
      if (size < 16) text[size++] = page.at(at_);
      ++at_;
    }
    const int number = Web::number_of_word(text, size);
    if (number < kWords) ++words_[number];
    return number;
  }
  void parse_tag(const Page& page) {
    const int begin = ++at_;
    while (at_ < page.size() && page.at(at_) != '>') ++at_;
    const int size = at_++ - begin;
    if (size < 3 || page.at(begin) != 'a' || page.at(begin + 1) != ' ') return;
    Url link;
    if (links_ < kLinksOnPage && link.read(page.text() + begin + 2, size - 2))
      link_[links_++] = link;
  }

  int at_ = 0;
  int words_[kWords] = {};
  Url link_[kLinksOnPage];
  int links_ = 0;
  bool has_title_ = false;
};

}  // namespace crawler

#endif  // CRAWLER_PARSER_H_
