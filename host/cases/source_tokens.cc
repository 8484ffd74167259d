#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "host/cases/source_file.h"

namespace clew {
namespace {

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Scanner {
 public:
  Scanner(std::string_view text, Branches branches) : text_(text), branches_(branches) {}

  std::vector<SourceToken> run() {
    while (at_ < text_.size()) next();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip(std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      ++column_;
      if (text_[at_] != '\n') continue;
      ++line_;
      column_ = 1;
      line_is_empty_ = true;
    }
  }
  void take(std::size_t count) {
    tokens_.push_back(
        {std::string(text_.substr(at_, count)), line_, column_, SourceToken::Branch::kNone});
    skip(count);
    line_is_empty_ = false;
  }
  [[nodiscard]] std::size_t find(std::string_view what, std::size_t from) const {
    const std::size_t found = text_.find(what, from);
    return found == std::string_view::npos ? text_.size() : found + what.size();
  }

  void next() {
    const char c = peek();
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return skip(1);
    if (c == '\\' && peek(1) == '\n') return skip(2);
    if (c == '/' && peek(1) == '/') return skip_line();
    if (c == '/' && peek(1) == '*') return skip(find("*/", at_ + 2) - at_);
    if (c == '#' && line_is_empty_) return directive();
    if (c == 'R' && peek(1) == '"') return raw_string();
    if (c == '"' || c == '\'') return literal(c);
    if (is_name_start(c)) return word();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number();
    symbol();
  }
  void directive() {
    std::size_t from = at_ + 1;
    while (from < text_.size() && (text_[from] == ' ' || text_[from] == '\t')) ++from;
    const std::string_view word = text_.substr(from, 5);
    using Branch = SourceToken::Branch;
    const Branch branch = word.starts_with("if")      ? Branch::kBegins
                          : word.starts_with("el")    ? Branch::kOther
                          : word.starts_with("endif") ? Branch::kEnds
                                                      : Branch::kNone;
    if (branch != Branch::kNone && branches_ == Branches::kKept)
      tokens_.push_back({"", line_, column_, branch});
    skip_line();
  }
  void skip_line() {
    while (at_ < text_.size() && peek() != '\n') skip(peek() == '\\' ? 2 : 1);
  }
  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return take(text_.size() - at_);
    const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    take(find(end, open) - at_);
  }
  void literal(char quote) {
    std::size_t length = 1;
    while (at_ + length < text_.size() && peek(length) != quote && peek(length) != '\n')
      length += peek(length) == '\\' ? 2 : 1;
    take(std::min(length + 1, text_.size() - at_));
  }
  void word() {
    std::size_t length = 1;
    while (is_name(peek(length))) ++length;
    take(length);
  }
  void number() {
    std::size_t length = 1;
    while (is_name(peek(length)) || peek(length) == '.' ||
           (peek(length) == '\'' && is_name(peek(length + 1))))
      ++length;
    take(length);
  }
  // ">>" is left in two: it may end two lists of template arguments.
  void symbol() {
    static constexpr std::array<std::string_view, 22> kLong{
        "<<=", "<=>", "...", "->*", "::", "->", "++", "--", "+=", "-=", "*=",
        "/=",  "%=",  "&=",  "|=",  "^=", "==", "!=", "<=", ">=", "&&", "||"};
    for (const std::string_view one : kLong)
      if (text_.substr(at_, one.size()) == one) return take(one.size());
    take(1);
  }

  std::string_view text_;
  Branches branches_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  bool line_is_empty_ = true;
  std::vector<SourceToken> tokens_;
};

}  // namespace

std::vector<SourceToken> source_tokens(std::string_view text, Branches branches) {
  return Scanner(text, branches).run();
}

}  // namespace clew
