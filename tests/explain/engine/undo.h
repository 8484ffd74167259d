// What a transaction has changed, so that it can be taken back.
#ifndef ENGINE_UNDO_H_
#define ENGINE_UNDO_H_

#include <memory>
#include <vector>

#include "table.h"

namespace engine {

class UndoLog {
 public:
  void inserted(const std::shared_ptr<TableShare>& table, RowId row) {
    steps_.push_back({Step::kInserted, table, row, {}});
  }
  void changed(const std::shared_ptr<TableShare>& table, RowId row, Row before) {
    steps_.push_back({Step::kChanged, table, row, std::move(before)});
  }
  void erased(const std::shared_ptr<TableShare>& table, Row before) {
    steps_.push_back({Step::kErased, table, {}, std::move(before)});
  }
  std::size_t size() const { return steps_.size(); }
  void forget() { steps_.clear(); }
  void take_back();

 private:
  struct Step {
    enum What { kInserted, kChanged, kErased } what;
    std::shared_ptr<TableShare> table;
    RowId row;
    Row before;
  };
  std::vector<Step> steps_;
};

}  // namespace engine

#endif  // ENGINE_UNDO_H_
