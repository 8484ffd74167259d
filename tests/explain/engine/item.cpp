#include "item.h"

namespace engine {

const char* sign_of(Operator op) {
  switch (op) {
    case Operator::kEqual:
      return "=";
    case Operator::kLess:
      return "<";
    case Operator::kGreater:
      return ">";
    case Operator::kLessEqual:
      return "<=";
    case Operator::kGreaterEqual:
      return ">=";
    case Operator::kUnequal:
      return "<>";
    case Operator::kPlus:
      return "+";
    case Operator::kMinus:
      return "-";
    case Operator::kTimes:
      return "*";
    case Operator::kAnd:
      return "and";
    case Operator::kOr:
      return "or";
  }
  return "?";
}

Value BinaryItem::evaluate() const {
  const Value left = left_->evaluate();
  if (op_ == Operator::kAnd) return Value(left.is_true() && right_->evaluate().is_true() ? 1L : 0L);
  if (op_ == Operator::kOr) return Value(left.is_true() || right_->evaluate().is_true() ? 1L : 0L);
  const Value right = right_->evaluate();
  if (left.is_null() || right.is_null()) return Value();
  switch (op_) {
    case Operator::kPlus:
      return Value(left.number() + right.number());
    case Operator::kMinus:
      return Value(left.number() - right.number());
    case Operator::kTimes:
      return Value(left.number() * right.number());
    default:
      break;
  }
  const int order = left.compare(right);
  switch (op_) {
    case Operator::kEqual:
      return Value(order == 0 ? 1L : 0L);
    case Operator::kLess:
      return Value(order < 0 ? 1L : 0L);
    case Operator::kGreater:
      return Value(order > 0 ? 1L : 0L);
    case Operator::kLessEqual:
      return Value(order <= 0 ? 1L : 0L);
    case Operator::kGreaterEqual:
      return Value(order >= 0 ? 1L : 0L);
    default:
      return Value(order != 0 ? 1L : 0L);
  }
}

std::string BinaryItem::name() const {
  return "(" + left_->name() + " " + sign_of(op_) + " " + right_->name() + ")";
}

void BinaryItem::cleanup() {
  if (left_) left_->cleanup();
  if (right_) right_->cleanup();
}

void BinaryItem::collect(std::vector<Item*>& into) {
  into.push_back(this);
  left_->collect(into);
  right_->collect(into);
}

}  // namespace engine
