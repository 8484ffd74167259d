// A statement's text as tokens.
#ifndef ENGINE_LEXER_H_
#define ENGINE_LEXER_H_

#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class TokenKind { kWord, kNumber, kText, kSign, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // words in lower case
  long number = 0;
  std::size_t offset = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  std::vector<Token> tokens();

 private:
  void skip_space();
  Token next();
  Token word();
  Token number();
  Token quoted();
  Token sign();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace engine

#endif  // ENGINE_LEXER_H_
