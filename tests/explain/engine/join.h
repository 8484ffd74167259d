// A select over some tables: read what is constant first, then loop over the others. A join belongs to one execution of a statement, the items to
// all of them.
#ifndef ENGINE_JOIN_H_
#define ENGINE_JOIN_H_

#include <memory>
#include <string>
#include <vector>

#include "lock_manager.h"
#include "syntax.h"
#include "table.h"

namespace engine {

struct Source {
  Table* table = nullptr;
  Row row;  // where it is
  bool constant = false;
  RowId constant_row;
};

class Join {
 public:
  Join(Select& select, std::vector<Table*> tables, LockManager& locks, TransactionId transaction);

  void bind();
  int optimize();  // 0, or what went wrong
  std::vector<Row> execute();
  void cleanup();

 private:
  Source* source_of(const ColumnItem& column, std::size_t& index);
  Item* constant_for(const Source& source) const;
  int find_constant_tables();
  int read_constant_table(Source& source);
  void replace_references(const Source& source);
  void loop(std::size_t depth, std::vector<Row>& rows);
  void emit(std::vector<Row>& rows) const;
  std::vector<Row> aggregated(const std::vector<Row>& rows) const;
  void sort(std::vector<Row>& rows) const;
  bool is_aggregate() const;

  Select& select_;
  std::vector<Source> sources_;
  LockManager& locks_;
  TransactionId transaction_;
  std::vector<std::unique_ptr<Item>> arena_;  // freed with the join
};

}  // namespace engine

#endif  // ENGINE_JOIN_H_
