#include "parser.h"

#include "error.h"

namespace engine {

bool Parser::take_word(std::string_view word) {
  if (!is_word(word)) return false;
  at_++;
  return true;
}

bool Parser::take_sign(std::string_view sign) {
  if (!is_sign(sign)) return false;
  at_++;
  return true;
}

void Parser::expect_word(std::string_view word) {
  if (!take_word(word)) refuse(word);
}

void Parser::expect_sign(std::string_view sign) {
  if (!take_sign(sign)) refuse(sign);
}

std::string Parser::identifier() {
  if (peek().kind != TokenKind::kWord) refuse("a name");
  return tokens_[at_++].text;
}

void Parser::refuse(std::string_view expected) const {
  throw SqlError(Code::kSyntax,
                 "expected " + std::string(expected) + " at " + std::to_string(peek().offset));
}

Statement Parser::statement() {
  Statement made;
  if (is_word("select")) {
    made.verb = Verb::kSelect;
    made.select = select();
  } else if (take_word("create")) {
    made.verb = Verb::kCreate;
    made.create = create();
  } else if (take_word("drop")) {
    made.verb = Verb::kDrop;
    made.drop = drop();
  } else if (take_word("insert")) {
    made.verb = Verb::kInsert;
    made.insert = insert();
  } else if (take_word("update")) {
    made.verb = Verb::kUpdate;
    made.update = update();
  } else if (take_word("delete")) {
    made.verb = Verb::kDelete;
    made.remove = remove();
  } else if (take_word("begin")) {
    made.verb = Verb::kBegin;
  } else if (take_word("commit")) {
    made.verb = Verb::kCommit;
  } else if (take_word("rollback")) {
    made.verb = Verb::kRollback;
  } else {
    refuse("a statement");
  }
  take_sign(";");
  if (peek().kind != TokenKind::kEnd) refuse("the end");
  return made;
}

std::unique_ptr<Select> Parser::select() {
  auto made = std::make_unique<Select>();
  expect_word("select");
  references_.clear();
  do {
    made->outputs.push_back(output());
  } while (take_sign(","));
  expect_word("from");
  do {
    made->tables.push_back(identifier());
  } while (take_sign(","));
  if (take_word("where")) made->where = expression();
  if (take_word("order")) {
    expect_word("by");
    made->order_by = identifier();
  }
  if (take_word("limit")) made->limit = literal().number();
  made->references = std::move(references_);
  return made;
}

Output Parser::output() {
  Output made;
  if (take_sign("*")) return made;
  const struct {
    const char* word;
    Aggregate aggregate;
  } kAggregates[] = {{"count", Aggregate::kCount},
                     {"sum", Aggregate::kSum},
                     {"min", Aggregate::kLowest},
                     {"max", Aggregate::kHighest}};
  for (const auto& one : kAggregates) {
    if (!is_word(one.word) || tokens_[at_ + 1].text != "(") continue;
    at_ += 2;
    made.aggregate = one.aggregate;
    if (!take_sign("*")) made.item = expression();
    expect_sign(")");
    return made;
  }
  made.item = expression();
  return made;
}

std::unique_ptr<CreateTable> Parser::create() {
  auto made = std::make_unique<CreateTable>();
  expect_word("table");
  made->table = identifier();
  if (is_word("select")) {
    made->from = select();
    return made;
  }
  expect_sign("(");
  do {
    made->columns.push_back(column_definition());
  } while (take_sign(","));
  expect_sign(")");
  return made;
}

ColumnDefinition Parser::column_definition() {
  ColumnDefinition column;
  column.name = identifier();
  if (take_word("text"))
    column.type = Type::kText;
  else
    expect_word("integer");
  if (take_word("primary")) {
    expect_word("key");
    column.primary = true;
  }
  column.counts = take_word("auto_increment");
  return column;
}

std::unique_ptr<DropTable> Parser::drop() {
  expect_word("table");
  return std::make_unique<DropTable>(DropTable{identifier()});
}

std::unique_ptr<Insert> Parser::insert() {
  auto made = std::make_unique<Insert>();
  expect_word("into");
  made->table = identifier();
  expect_word("values");
  do {
    expect_sign("(");
    Row row;
    do {
      row.push_back(literal());
    } while (take_sign(","));
    expect_sign(")");
    made->rows.push_back(std::move(row));
  } while (take_sign(","));
  return made;
}

std::unique_ptr<Update> Parser::update() {
  auto made = std::make_unique<Update>();
  references_.clear();
  made->table = identifier();
  expect_word("set");
  do {
    std::string column = identifier();
    expect_sign("=");
    made->changes.emplace_back(std::move(column), expression());
  } while (take_sign(","));
  if (take_word("where")) made->where = expression();
  made->references = std::move(references_);
  return made;
}

std::unique_ptr<Delete> Parser::remove() {
  auto made = std::make_unique<Delete>();
  references_.clear();
  expect_word("from");
  made->table = identifier();
  if (take_word("where")) made->where = expression();
  made->references = std::move(references_);
  return made;
}

Value Parser::literal() {
  if (take_word("null")) return Value();
  const bool negative = take_sign("-");
  const Token& token = peek();
  if (token.kind == TokenKind::kNumber) {
    at_++;
    return Value(negative ? -token.number : token.number);
  }
  if (token.kind != TokenKind::kText || negative) refuse("a value");
  at_++;
  return Value(token.text);
}

ItemPtr Parser::expression() {
  ItemPtr left = conjunction();
  if (!take_word("or")) return left;
  ItemPtr right = expression();
  return std::make_unique<BinaryItem>(Operator::kOr, std::move(left), std::move(right));
}

ItemPtr Parser::conjunction() {
  ItemPtr left = negation();
  if (!take_word("and")) return left;
  ItemPtr right = conjunction();
  return std::make_unique<BinaryItem>(Operator::kAnd, std::move(left), std::move(right));
}

ItemPtr Parser::negation() {
  if (take_word("not")) return std::make_unique<NotItem>(negation());
  return comparison();
}

ItemPtr Parser::comparison() {
  ItemPtr left = sum();
  for (const Operator op : {Operator::kLessEqual, Operator::kGreaterEqual, Operator::kUnequal,
                            Operator::kEqual, Operator::kLess, Operator::kGreater})
    if (take_sign(sign_of(op))) {
      ItemPtr right = sum();
      return std::make_unique<BinaryItem>(op, std::move(left), std::move(right));
    }
  return left;
}

ItemPtr Parser::sum() {
  ItemPtr left = product();
  while (is_sign("+") || is_sign("-")) {
    const Operator op = is_sign("+") ? Operator::kPlus : Operator::kMinus;
    at_++;
    ItemPtr right = product();
    left = std::make_unique<BinaryItem>(op, std::move(left), std::move(right));
  }
  return left;
}

ItemPtr Parser::product() {
  ItemPtr left = primary();
  while (take_sign("*")) {
    ItemPtr right = primary();
    left = std::make_unique<BinaryItem>(Operator::kTimes, std::move(left), std::move(right));
  }
  return left;
}

ItemPtr Parser::primary() {
  if (take_sign("(")) {
    ItemPtr inner = expression();
    expect_sign(")");
    return inner;
  }
  if (peek().kind != TokenKind::kWord || is_word("null"))
    return std::make_unique<Constant>(literal());
  std::string table;
  std::string column = identifier();
  if (take_sign(".")) {
    table = std::move(column);
    column = identifier();
  }
  auto reference = std::make_unique<RefItem>(std::make_unique<ColumnItem>(table, column));
  references_.push_back(reference.get());
  return reference;
}

}  // namespace engine
