#include "host/model/body_lines.h"

#include <cctype>

namespace clew {
namespace {

// Steps through the characters of a source that are code: comments and what stands in quotes are
// passed over, the latter as a single character.
class CodeReader {
 public:
  explicit CodeReader(std::string_view text) : text_(text) {}

  // The next character that is code and not blank; '\0' at the end. `line` is its line.
  char next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        skip_to("*/");
      } else if (text_.substr(at_, 3) == "R\"(") {
        skip_to(")\"");
        return '"';
      } else if (c == '"' || (c == '\'' && !is_digit_separator())) {
        skip_quoted(c);
        return '"';
      } else {
        ++at_;
        return c;
      }
    }
    return '\0';
  }
  [[nodiscard]] std::uint32_t line() const { return line_; }
  void go_to_line(std::uint32_t line) {
    while (line_ < line && at_ < text_.size())
      if (text_[at_++] == '\n') ++line_;
  }

 private:
  bool is_digit_separator() const {
    return at_ > 0 && at_ + 1 < text_.size() &&
           std::isxdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0 &&
           std::isxdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0 &&
           text_.substr(at_ + 2, 1) != "'";
  }
  void skip_to(std::string_view end) {
    std::size_t found = text_.find(end, at_ + 2);
    if (found == std::string_view::npos) found = text_.size();
    const std::size_t behind = std::min(found + end.size(), text_.size());
    for (; at_ < behind; ++at_) line_ += text_[at_] == '\n';
  }
  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Behind the brace that is open.
void skip_braces(CodeReader& reader) {
  for (int depth = 1; depth > 0;) {
    const char c = reader.next();
    if (c == '\0') return;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
}

}  // namespace

std::optional<BodyLines> body_lines(std::string_view source, std::uint32_t line, BodyOf of) {
  CodeReader reader(source);
  reader.go_to_line(line);
  char before = '\0';
  if (of == BodyOf::kLambda)
    for (char c = reader.next(); c != '['; c = reader.next())
      if (c == '\0') return std::nullopt;
  int depth = 0;
  bool parameters = of == BodyOf::kLambda;  // have been read
  bool initialises = false;  // in what comes between a constructor's parameters and its body
  for (;;) {
    const char c = reader.next();
    if (c == '\0' || (c == ';' && depth == 0)) return std::nullopt;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ')' && depth == 0) parameters = true;
    if (c == ':' && before != ':' && parameters && depth == 0) initialises = true;
    if (c == '{') {
      // A member that is initialised in braces.
      const bool member = depth > 0 || (initialises && (is_word(before) || before == '>'));
      if (!member) break;
      skip_braces(reader);
      before = '}';
      continue;
    }
    before = c;
  }
  BodyLines body{reader.line(), 0, 0};
  std::uint32_t counted = 0;
  for (int open = 1;;) {
    const char c = reader.next();
    if (c == '\0') return std::nullopt;
    open += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (open == 0) break;
    if (reader.line() == counted) continue;
    counted = reader.line();
    ++body.code;
  }
  body.last = reader.line();
  return body;
}

}  // namespace clew
