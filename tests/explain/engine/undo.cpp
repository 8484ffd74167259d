#include "undo.h"

namespace engine {

// The last change first.
void UndoLog::take_back() {
  while (!steps_.empty()) {
    Step step = std::move(steps_.back());
    steps_.pop_back();
    switch (step.what) {
      case Step::kInserted:
        step.table->erase(step.row);
        break;
      case Step::kChanged:
        step.table->replace(step.row, step.before);
        break;
      case Step::kErased:
        step.table->insert(std::move(step.before));
        break;
    }
  }
}

}  // namespace engine
