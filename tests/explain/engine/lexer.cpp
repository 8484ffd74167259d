#include "lexer.h"

#include <cctype>

#include "error.h"

namespace engine {

std::vector<Token> Lexer::tokens() {
  std::vector<Token> result;
  do {
    result.push_back(next());
  } while (result.back().kind != TokenKind::kEnd);
  return result;
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    if (text_.substr(at_, 2) == "--") {
      while (at_ < text_.size() && text_[at_] != '\n') at_++;
    } else if (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t') {
      at_++;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_space();
  Token token;
  token.offset = at_;
  if (at_ == text_.size()) return token;
  const char c = text_[at_];
  if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return word();
  if (std::isdigit(static_cast<unsigned char>(c))) return number();
  if (c == '\'') return quoted();
  return sign();
}

Token Lexer::word() {
  Token token{TokenKind::kWord, "", 0, at_};
  while (at_ < text_.size() &&
         (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
    token.text.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(text_[at_++]))));
  return token;
}

Token Lexer::number() {
  Token token{TokenKind::kNumber, "", 0, at_};
  while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
    token.number = token.number * 10 + (text_[at_] - '0');
    token.text.push_back(text_[at_++]);
  }
  return token;
}

Token Lexer::quoted() {
  Token token{TokenKind::kText, "", 0, at_};
  for (at_++;; at_++) {
    if (at_ >= text_.size()) throw SqlError(Code::kSyntax, "a text is not ended");
    if (text_[at_] == '\'') {
      if (text_.substr(at_, 2) != "''") break;
      at_++;
    }
    token.text.push_back(text_[at_]);
  }
  at_++;
  return token;
}

Token Lexer::sign() {
  Token token{TokenKind::kSign, "", 0, at_};
  for (const std::string_view both : {"<=", ">=", "<>"})
    if (text_.substr(at_, 2) == both) {
      token.text = both;
      at_ += 2;
      return token;
    }
  constexpr std::string_view kSigns = "(),=<>+-*.?;";
  if (kSigns.find(text_[at_]) == std::string_view::npos)
    throw SqlError(Code::kSyntax, std::string("unexpected character ") + text_[at_]);
  token.text = text_[at_++];
  return token;
}

}  // namespace engine
