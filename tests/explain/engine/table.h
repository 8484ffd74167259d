// A table: what it is (TableShare, one for all), and what a session does with it (Table).
#ifndef ENGINE_TABLE_H_
#define ENGINE_TABLE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "index.h"
#include "page_store.h"
#include "syntax.h"

namespace engine {

class Session;

// The data of a table. Readers and writers take `mutex`.
struct TableShare {
  std::string name;
  std::vector<ColumnDefinition> columns;
  std::mutex mutex;
  PageStore rows;
  Index primary;
  long next_number = 1;

  std::optional<std::size_t> column(const std::string& wanted) const;
  std::optional<std::size_t> primary_column() const;
  RowId insert(Row row);
  bool erase(RowId row);
  void replace(RowId row, const Row& changed);
  std::optional<Row> read(RowId row);
  std::optional<RowId> next(RowId from);
  std::optional<RowId> find(const Value& key);
};

// What an open table needs to be read: where it is and what it has seen.
struct HandlerInfo {
  std::shared_ptr<TableShare> share;
  RowId position;
  unsigned long rows_read = 0;
};

// An entry of the table cache.
struct Table {
  std::string name;
  std::shared_ptr<TableShare> share;
  Session* in_use = nullptr;  // who has it open
  bool outdated = false;      // to be closed by who uses it, as it is to be dropped
  HandlerInfo* info = nullptr;

  std::optional<Row> first_row();
  std::optional<Row> next_row();
};

}  // namespace engine

#endif  // ENGINE_TABLE_H_
