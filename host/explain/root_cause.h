// The root cause: where a read gets its value from another place in the failing run than in the
// passing one (Weeratunge et al. 2010, property 1), and what kind of fault that is.
#ifndef CLEW_HOST_EXPLAIN_ROOT_CAUSE_H_
#define CLEW_HOST_EXPLAIN_ROOT_CAUSE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "host/explain/dual_slice.h"
#include "host/explain/explanation.h"
#include "host/explain/hand_over.h"
#include "host/explain/naming.h"
#include "host/explain/traced_pair.h"

namespace clew {

struct Root {
  // The use, in both runs, and who made what it uses in each. A definition may be unseen.
  NodeId use_failing = kNoNode;
  NodeId use_passing = kNoNode;
  NodeId from_failing = kNoNode;
  NodeId from_passing = kNoNode;
  std::uint64_t address = 0;  // of the memory; 0: a result of a call
  std::uint32_t size = 0;
  std::uint64_t checked =
      0;  // what AddressSanitizer keeps about the memory, if the use looks at that; 0: it does not
  bool settled = false;  // no order of the use and of what made it could be another
  bool last = false;     // what it uses is no difference: nothing lies behind it
  // kBetween: the accesses of the failing run; not valid: another pattern, or it cannot be tested
  Instance earlier;
  Instance remote;
  Instance later;
  Instance freed;  // kUseAfterFree: likewise
};

// The differences of the slice that come from another thread, the best first. `end` is the instance of the failing run that it begins at;
// kNoNode: it begins in the passing run.
[[nodiscard]] std::vector<Root> find_roots(TracedPair& pair, Naming& naming, const DualSlice& slice,
                                           NodeId end);

// What the program reads from other threads' writes than in the passing run, wherever that is, in the order of the failing run: for failures
// from which no slice leads to another thread (what lies in between is code that is not traced, such as the runtime's `pthread_once`).
[[nodiscard]] std::vector<Root> roots_anywhere(TracedPair& pair, Naming& naming);

// Notes in the root what it found out about it.
[[nodiscard]] Cause classify(TracedPair& pair, Naming& naming, const DualSlice& slice, Root& root);

[[nodiscard]] Check check_of(TracedPair& pair, Naming& naming, const StaleRead& stale);

// Whether the thread has read it once more by the same instruction, behind the other's write and before `until` and anything that it writes
// there itself: as the condition of a wait does, or of a loop.
[[nodiscard]] bool looks_again(TracedPair& pair, const StaleRead& stale, Instance until);

// If who has read that writes it himself before the step `until`: both should have been one.
[[nodiscard]] std::optional<Cause> check_then_act(TracedPair& pair, Naming& naming,
                                                  const StaleRead& stale, StepIndex until);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_ROOT_CAUSE_H_
