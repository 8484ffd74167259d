#include "join.h"

#include <algorithm>

#include "error.h"

namespace engine {
namespace {

enum { kFine = 0, kLockRefused = 1 };

// The column that is compared with a constant, if that is what the item does.
RefItem* key_column(Item* item, Item*& constant) {
  auto* both = dynamic_cast<BinaryItem*>(item);
  if (both == nullptr || both->op() != Operator::kEqual) return nullptr;
  auto* column = dynamic_cast<RefItem*>(both->left());
  constant = both->right();
  return column != nullptr && constant->is_constant() ? column : nullptr;
}

}  // namespace

Join::Join(Select& select, std::vector<Table*> tables, LockManager& locks,
           TransactionId transaction)
    : select_(select), locks_(locks), transaction_(transaction) {
  for (Table* table : tables) {
    Source source;
    source.table = table;
    sources_.push_back(std::move(source));
  }
}

Source* Join::source_of(const ColumnItem& column, std::size_t& index) {
  for (Source& source : sources_) {
    if (!column.table().empty() && column.table() != source.table->name) continue;
    if (const auto at = source.table->share->column(column.column())) {
      index = *at;
      return &source;
    }
  }
  return nullptr;
}

void Join::bind() {
  for (RefItem* reference : select_.references) {
    std::size_t index = 0;
    Source* source = source_of(reference->column(), index);
    if (source == nullptr) throw SqlError(Code::kNoColumn, "no column " + reference->name());
    reference->column().bind(&source->row, index);
  }
}

int Join::optimize() {
  if (select_.where == nullptr) return kFine;
  return find_constant_tables();
}

// A table whose primary key is compared with a constant has one row at most. Its columns are constants then, so that other tables may follow.
int Join::find_constant_tables() {
  std::vector<Item*> items;
  Item* rest = select_.where.get();
  while (auto* both = dynamic_cast<BinaryItem*>(rest)) {
    if (both->op() != Operator::kAnd) break;
    items.push_back(both->left());
    rest = both->right();
  }
  items.push_back(rest);
  for (bool found = true; found;) {
    found = false;
    for (Item* item : items) {
      Item* constant = nullptr;
      RefItem* column = key_column(item, constant);
      if (column == nullptr) continue;
      std::size_t index = 0;
      Source* source = source_of(column->column(), index);
      if (source == nullptr || source->constant || source->table->share->primary_column() != index)
        continue;
      const auto row = source->table->share->find(constant->evaluate());
      if (!row) continue;
      source->constant = true;
      source->constant_row = *row;
      const int error = read_constant_table(*source);
      if (error != kFine) return error;
      replace_references(*source);
      found = true;
    }
  }
  return kFine;
}

int Join::read_constant_table(Source& source) {
  const LockManager::Answer answer =
      locks_.lock(source.table->name, source.constant_row, transaction_);
  if (answer == LockManager::Answer::kRefused) return kLockRefused;
  const auto row = source.table->share->read(source.constant_row);
  if (row) source.row = *row;
  return kFine;
}

// Columns of a constant table are constants from here on.
void Join::replace_references(const Source& source) {
  for (RefItem* reference : select_.references) {
    std::size_t index = 0;
    if (source_of(reference->column(), index) != &source) continue;
    arena_.push_back(std::make_unique<Constant>(source.row[index]));
    reference->refer_to(arena_.back().get());
  }
}

std::vector<Row> Join::execute() {
  std::vector<Row> rows;
  loop(0, rows);
  if (is_aggregate()) rows = aggregated(rows);
  if (!select_.order_by.empty()) sort(rows);
  if (select_.limit && rows.size() > static_cast<std::size_t>(*select_.limit))
    rows.resize(static_cast<std::size_t>(*select_.limit));
  return rows;
}

void Join::loop(std::size_t depth, std::vector<Row>& rows) {
  if (depth == sources_.size()) {
    if (select_.where == nullptr || select_.where->evaluate().is_true()) emit(rows);
    return;
  }
  Source& source = sources_[depth];
  if (source.constant) return loop(depth + 1, rows);
  for (auto row = source.table->first_row(); row; row = source.table->next_row()) {
    source.row = *row;
    loop(depth + 1, rows);
  }
}

void Join::emit(std::vector<Row>& rows) const {
  Row made;
  for (const Output& output : select_.outputs) {
    if (output.item != nullptr) {
      made.push_back(output.item->evaluate());
    } else if (output.aggregate == Aggregate::kNone) {
      for (const Source& source : sources_)
        made.insert(made.end(), source.row.begin(), source.row.end());
    } else {
      made.push_back(Value(1L));
    }
  }
  rows.push_back(std::move(made));
}

bool Join::is_aggregate() const {
  return std::ranges::any_of(select_.outputs,
                             [](const Output& one) { return one.aggregate != Aggregate::kNone; });
}

std::vector<Row> Join::aggregated(const std::vector<Row>& rows) const {
  Row made;
  for (std::size_t i = 0; i < select_.outputs.size(); i++) {
    const Aggregate aggregate = select_.outputs[i].aggregate;
    Value value =
        aggregate == Aggregate::kCount || aggregate == Aggregate::kSum ? Value(0L) : Value();
    for (const Row& row : rows) {
      const Value& one = row[i];
      if (one.is_null()) continue;
      switch (aggregate) {
        case Aggregate::kCount:
          value = Value(value.number() + 1);
          break;
        case Aggregate::kSum:
          value = Value(value.number() + one.number());
          break;
        case Aggregate::kLowest:
          if (value.is_null() || one.compare(value) < 0) value = one;
          break;
        case Aggregate::kHighest:
          if (value.is_null() || one.compare(value) > 0) value = one;
          break;
        case Aggregate::kNone:
          value = one;
          break;
      }
    }
    made.push_back(std::move(value));
  }
  return {made};
}

void Join::sort(std::vector<Row>& rows) const {
  for (std::size_t i = 0; i < select_.outputs.size(); i++) {
    if (select_.outputs[i].item == nullptr || select_.outputs[i].item->name() != select_.order_by)
      continue;
    std::ranges::sort(rows, [i](const Row& a, const Row& b) { return a[i].compare(b[i]) < 0; });
    return;
  }
  throw SqlError(Code::kNoColumn, "order by " + select_.order_by + ", which is not selected");
}

// Columns are columns again.
void Join::cleanup() {
  for (const Output& output : select_.outputs)
    if (output.item != nullptr) output.item->cleanup();
  if (select_.where != nullptr) select_.where->cleanup();
}

}  // namespace engine
