// Statements, as the parser makes them.
#ifndef ENGINE_SYNTAX_H_
#define ENGINE_SYNTAX_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "item.h"

namespace engine {

struct ColumnDefinition {
  std::string name;
  Type type = Type::kInteger;
  bool primary = false;
  bool counts = false;  // takes the next number if none is given
};

enum class Aggregate { kNone, kCount, kSum, kLowest, kHighest };

struct Output {
  Aggregate aggregate = Aggregate::kNone;
  ItemPtr item;  // nothing: all columns, or the rows themselves
};

struct Select {
  std::vector<Output> outputs;
  std::vector<std::string> tables;
  ItemPtr where;
  std::vector<RefItem*> references;  // all columns that are named in it
  std::string order_by;
  std::optional<long> limit;
};

struct CreateTable {
  std::string table;
  std::vector<ColumnDefinition> columns;
  std::unique_ptr<Select> from;
};

struct DropTable {
  std::string table;
};

struct Insert {
  std::string table;
  std::vector<Row> rows;
};

struct Update {
  std::string table;
  std::vector<std::pair<std::string, ItemPtr>> changes;
  ItemPtr where;
  std::vector<RefItem*> references;
};

struct Delete {
  std::string table;
  ItemPtr where;
  std::vector<RefItem*> references;
};

enum class Verb { kSelect, kCreate, kDrop, kInsert, kUpdate, kDelete, kBegin, kCommit, kRollback };

struct Statement {
  Verb verb = Verb::kSelect;
  std::unique_ptr<Select> select;
  std::unique_ptr<CreateTable> create;
  std::unique_ptr<DropTable> drop;
  std::unique_ptr<Insert> insert;
  std::unique_ptr<Update> update;
  std::unique_ptr<Delete> remove;
};

}  // namespace engine

#endif  // ENGINE_SYNTAX_H_
