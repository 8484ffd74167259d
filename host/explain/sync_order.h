// Which steps of a run come before which others of other threads because of synchronisation: creation
// of threads, conditions, semaphores, barriers, atomic operations that read what another has written.
//
// Locks order nothing here: which of two threads takes a lock first is what another schedule changes.
// Nor does the end of a thread: what comes behind a join cannot change places with what the thread did.
#ifndef CLEW_HOST_EXPLAIN_SYNC_ORDER_H_
#define CLEW_HOST_EXPLAIN_SYNC_ORDER_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "host/explain/dependences.h"
#include "host/explain/sync_calls.h"

namespace clew {

// An atomic update (a counter, a reference count) comes behind the one before it, but does not wait for it: like a lock, it may as well
// come first.
enum class OrderedBy : std::uint8_t { kAll, kWaiting };

class SyncOrder {
 public:
  SyncOrder(const Dependences& run, CodeMap& code, OrderedBy by);

  // The last step of the thread that comes before `step`, which is another thread's; kNoStep: none.
  [[nodiscard]] StepIndex last_before(StepIndex step, std::uint16_t thread) const;
  // What orders others behind such a step: its call, or its atomic write.
  [[nodiscard]] Instance release_of(StepIndex step) const;
  // REQUIRES: they belong to two threads.
  [[nodiscard]] bool before(StepIndex first, StepIndex second) const;

 private:
  using Times = std::vector<StepIndex>;  // of each thread: its last step that is known, plus one

  struct Wake {
    StepIndex step = kNoStep;
    Times times;
  };

  void enter(StepIndex step);
  void leave(const OutsideCall& call);
  void come_back(const OutsideCall& call, StepIndex step);
  void join_ended(const OutsideCall& call, StepIndex step);
  void atomic_accesses(StepIndex step);
  void join(std::uint16_t thread, StepIndex step, const Times& from);
  Times released(std::uint16_t thread, StepIndex step) const;
  void merge(Times& to, const Times& from) const;

  const RunTrace& run_;
  OrderedBy by_;
  std::vector<Times> now_;                                         // of each thread
  std::vector<std::vector<std::pair<StepIndex, Times>>> changes_;  // ... from this step on
  std::vector<std::uint64_t> atomic_;                              // ... accessed next, or 0
  std::map<StepIndex, std::vector<std::uint16_t>> created_;        // by the call
  std::map<std::uint16_t, Times> births_;
  std::map<std::uint64_t, Times> objects_;
  std::map<StepIndex, std::uint32_t> atomic_writes_;  // the instruction of the step
  std::map<std::uint64_t, std::vector<Wake>> wakes_;
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_SYNC_ORDER_H_
