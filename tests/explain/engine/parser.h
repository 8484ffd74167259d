// Statements from text, by recursive descent.
#ifndef ENGINE_PARSER_H_
#define ENGINE_PARSER_H_

#include <string_view>
#include <vector>

#include "lexer.h"
#include "syntax.h"

namespace engine {

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(Lexer(text).tokens()) {}
  Statement statement();

 private:
  const Token& peek() const { return tokens_[at_]; }
  bool is_word(std::string_view word) const {
    return peek().kind == TokenKind::kWord && peek().text == word;
  }
  bool is_sign(std::string_view sign) const {
    return peek().kind == TokenKind::kSign && peek().text == sign;
  }
  bool take_word(std::string_view word);
  bool take_sign(std::string_view sign);
  void expect_word(std::string_view word);
  void expect_sign(std::string_view sign);
  std::string identifier();
  [[noreturn]] void refuse(std::string_view expected) const;

  std::unique_ptr<Select> select();
  std::unique_ptr<CreateTable> create();
  std::unique_ptr<DropTable> drop();
  std::unique_ptr<Insert> insert();
  std::unique_ptr<Update> update();
  std::unique_ptr<Delete> remove();
  ColumnDefinition column_definition();
  Output output();
  Value literal();

  // `references_` gets each column that is named.
  ItemPtr expression();
  ItemPtr conjunction();
  ItemPtr negation();
  ItemPtr comparison();
  ItemPtr sum();
  ItemPtr product();
  ItemPtr primary();

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<RefItem*> references_;
};

}  // namespace engine

#endif  // ENGINE_PARSER_H_
