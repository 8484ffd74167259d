// Expressions. An item may be executed many times: what an execution changes in it, `cleanup` puts back.
#ifndef ENGINE_ITEM_H_
#define ENGINE_ITEM_H_

#include <memory>
#include <string>
#include <vector>

#include "value.h"

namespace engine {

class Item {
 public:
  virtual ~Item() = default;
  virtual Value evaluate() const = 0;
  virtual std::string name() const = 0;
  virtual bool is_constant() const = 0;  // in this execution
  virtual void cleanup() {}
  // All items below and with this one.
  virtual void collect(std::vector<Item*>& into) { into.push_back(this); }
};

using ItemPtr = std::unique_ptr<Item>;

class Constant final : public Item {
 public:
  explicit Constant(Value value) : value_(std::move(value)) {}
  Value evaluate() const override { return value_; }
  std::string name() const override { return value_.text(); }
  bool is_constant() const override { return true; }

 private:
  Value value_;
};

// A column of the row that a source is at.
class ColumnItem final : public Item {
 public:
  ColumnItem(std::string table, std::string column)
      : table_(std::move(table)), column_(std::move(column)) {}
  void bind(const Row* row, std::size_t index) {
    row_ = row;
    index_ = index;
  }
  Value evaluate() const override {
    return row_ == nullptr || index_ >= row_->size() ? Value() : (*row_)[index_];
  }
  std::string name() const override { return table_.empty() ? column_ : table_ + "." + column_; }
  bool is_constant() const override { return false; }
  const std::string& table() const { return table_; }
  const std::string& column() const { return column_; }

 private:
  std::string table_, column_;
  const Row* row_ = nullptr;
  std::size_t index_ = 0;
};

// Stands for a column, and for its value once the table is known to have one row only.
class RefItem final : public Item {
 public:
  explicit RefItem(std::unique_ptr<ColumnItem> column)
      : column_(std::move(column)), ref_item_(column_.get()) {}
  ColumnItem& column() { return *column_; }
  void refer_to(Item* constant) { ref_item_ = constant; }
  Value evaluate() const override { return ref_item_->evaluate(); }
  std::string name() const override { return column_->name(); }
  bool is_constant() const override { return ref_item_->is_constant(); }
  void cleanup() override { ref_item_ = column_.get(); }

 private:
  std::unique_ptr<ColumnItem> column_;
  Item* ref_item_;
};

enum class Operator {
  kEqual,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kUnequal,
  kPlus,
  kMinus,
  kTimes,
  kAnd,
  kOr
};

class BinaryItem final : public Item {
 public:
  BinaryItem(Operator op, ItemPtr left, ItemPtr right)
      : op_(op), left_(std::move(left)), right_(std::move(right)) {}
  Value evaluate() const override;
  std::string name() const override;
  bool is_constant() const override { return left_->is_constant() && right_->is_constant(); }
  void cleanup() override;
  void collect(std::vector<Item*>& into) override;
  Operator op() const { return op_; }
  Item* left() { return left_.get(); }
  Item* right() { return right_.get(); }

 private:
  Operator op_;
  ItemPtr left_, right_;
};

class NotItem final : public Item {
 public:
  explicit NotItem(ItemPtr inner) : inner_(std::move(inner)) {}
  Value evaluate() const override { return Value(inner_->evaluate().is_true() ? 0L : 1L); }
  std::string name() const override { return "not " + inner_->name(); }
  bool is_constant() const override { return inner_->is_constant(); }
  void cleanup() override { inner_->cleanup(); }
  void collect(std::vector<Item*>& into) override {
    into.push_back(this);
    inner_->collect(into);
  }

 private:
  ItemPtr inner_;
};

const char* sign_of(Operator op);

}  // namespace engine

#endif  // ENGINE_ITEM_H_
