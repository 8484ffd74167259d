// A value of a column or an expression.
#ifndef ENGINE_VALUE_H_
#define ENGINE_VALUE_H_

#include <string>
#include <variant>
#include <vector>

namespace engine {

enum class Type { kInteger, kText };

class Value {
 public:
  Value() = default;
  explicit Value(long number) : held_(number) {}
  explicit Value(std::string text) : held_(std::move(text)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(held_); }
  bool is_number() const { return std::holds_alternative<long>(held_); }
  long number() const;
  std::string text() const;
  bool is_true() const { return !is_null() && number() != 0; }

  // Nulls come first, then numbers, then texts.
  int compare(const Value& other) const;
  bool operator==(const Value& other) const { return compare(other) == 0; }

  // As bytes of a page: a tag, and the number or the length and the text.
  void pack(std::string& to) const;
  static Value unpack(const char*& at, const char* end);

 private:
  std::variant<std::monostate, long, std::string> held_;
};

using Row = std::vector<Value>;

std::string pack_row(const Row& row);
Row unpack_row(const std::string& bytes);
std::string to_text(const Row& row);

}  // namespace engine

#endif  // ENGINE_VALUE_H_
