#include "host/report/name_pieces.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

namespace clew {
namespace {

// Chosen, not measured: real names of deeply nested templates stay below.
constexpr std::size_t kMostText = 20'000;
constexpr int kMostDepth = 40;

char closing(char open) {
  switch (open) {
    case '<':
      return '>';
    case '(':
      return ')';
    case '[':
      return ']';
    default:
      return '}';
  }
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '~' || static_cast<unsigned char>(c) >= 0x80;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Pieces> parse() {
    if (text_.size() > kMostText) return std::nullopt;
    auto result = list(0, 0);
    return at_ == text_.size() && result ? std::move(result) : std::nullopt;
  }

 private:
  // Up to a comma or the closing bracket, or the end.
  std::optional<Pieces> list(char end, int depth) {
    if (depth > kMostDepth) return std::nullopt;
    Pieces pieces;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (end != 0 && (c == end || c == ',')) return pieces;
      if (c == '<' || c == '(' || c == '[' || c == '{') {
        auto one = bracket(c, depth);
        if (!one) return std::nullopt;
        pieces.push_back(std::move(*one));
      } else if (c == ')' || c == ']' || c == '}' || (c == '>' && !after_dash())) {
        return std::nullopt;
      } else {
        pieces.push_back({token(), {}});
      }
    }
    return end == 0 ? std::optional(std::move(pieces)) : std::nullopt;
  }

  std::optional<Piece> bracket(char open, int depth) {
    Piece piece{std::string(1, open), {}, true};
    do {
      ++at_;
      if (!piece.args.empty() && peek() == ' ') ++at_;
      auto arg = list(closing(open), depth + 1);
      if (!arg || at_ >= text_.size()) return std::nullopt;
      // "> >" of old compilers
      if (!arg->empty() && arg->back().is(" ")) arg->pop_back();
      piece.args.push_back(std::move(*arg));
    } while (text_[at_] == ',');
    ++at_;
    return piece;
  }

  std::string token() {
    const std::size_t first = at_;
    const char c = text_[at_];
    if (is_word(c)) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      std::string word(text_.substr(first, at_ - first));
      return word == "operator" ? word + operator_symbol() : word;
    }
    // 'lambda0', 'unnamed'
    if (c == '\'') {
      const std::size_t end = text_.find('\'', at_ + 1);
      if (end != std::string_view::npos && end - at_ < 20) {
        at_ = end + 1;
        return std::string(text_.substr(first, at_ - first));
      }
    }
    at_ += text_.substr(at_).starts_with("::") ? 2 : 1;
    return std::string(text_.substr(first, at_ - first));
  }

  std::string operator_symbol() {
    constexpr std::array<std::string_view, 43> kSymbols{
        "()", "[]", "<=>", "<<=", ">>=", "->*",  "<<",     ">>",        "<=",   ">=",     "==",
        "!=", "&&", "||",  "++",  "--",  "->",   "+=",     "-=",        "*=",   "/=",     "%=",
        "^=", "&=", "|=",  "+",   "-",   "*",    "/",      "%",         "^",    "&",      "|",
        "!",  "=",  "<",   ">",   ",",   "\"\"", " new[]", " delete[]", " new", " delete"};
    for (const std::string_view symbol : kSymbols)
      if (text_.substr(at_).starts_with(symbol)) {
        at_ += symbol.size();
        return std::string(symbol);
      }
    return "";
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] bool after_dash() const { return at_ > 0 && text_[at_ - 1] == '-'; }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Pieces> pieces_of(std::string_view text) { return Parser(text).parse(); }

std::string render(const Piece& piece) {
  if (!piece.bracket) return piece.text;
  std::string text = piece.text;
  for (std::size_t i = 0; i < piece.args.size(); ++i)
    text += (i == 0 ? "" : ", ") + render(piece.args[i]);
  return text + closing(piece.text[0]);
}

std::string render(const Pieces& pieces) {
  std::string text;
  for (const Piece& piece : pieces) text += render(piece);
  return text;
}

}  // namespace clew
