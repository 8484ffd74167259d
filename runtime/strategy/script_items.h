// The items of a script (script.h), by thread. Knows nothing of the scheduler.
#ifndef CLEW_RUNTIME_STRATEGY_SCRIPT_ITEMS_H_
#define CLEW_RUNTIME_STRATEGY_SCRIPT_ITEMS_H_

#include "clew_abi/guides.h"
#include "runtime/strategy/choices.h"

namespace clew::rt {

struct ScriptItem : abi::ScriptItem {
  std::uint32_t position;  // in the guide
};

// Items that are taken one after the other: those from `next` on are left.
struct ScriptLane {
  const ScriptItem* next = nullptr;
  const ScriptItem* end = nullptr;

  bool empty() const { return next == end; }
  void skip_before(std::uint64_t own) {
    while (!empty() && next->own < own) ++next;
  }
};

// Each lane in order of own event, then of ordinal, then of the guide.
struct ScriptThread {
  ScriptLane preemptions;
  ScriptLane choices;  // but kCas
  ScriptLane cas;
  ScriptLane cas_due;  // the same, for those whose event has not been reached
  bool begun = false;  // what lies before the job has been left out
};

class ScriptItems {
 public:
  // With a bad guide there are none.
  explicit ScriptItems(const abi::Job& job);

  // Null: it has none.
  ScriptThread* of(abi::ThreadKey thread) { return threads_.find(thread); }
  std::uint64_t count() const { return count_; }

 private:
  bool read_guide(const abi::Job& job);
  void sort_by_thread();

  ScriptItem* items_ = nullptr;
  std::uint64_t count_ = 0;
  Map<ScriptThread> threads_;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_SCRIPT_ITEMS_H_
