// Of all differences that lead to the failure, the one that is told, and the others; the sizes of the slices that they are found in.
#ifndef CLEW_HOST_EXPLAIN_TOLD_CAUSE_H_
#define CLEW_HOST_EXPLAIN_TOLD_CAUSE_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "host/explain/explain.h"
#include "host/explain/naming.h"
#include "host/explain/root_cause.h"
#include "host/explain/story.h"
#include "host/explain/traced_pair.h"

namespace clew {

// Instances of a slice in each run: about 60 bytes for each.
inline constexpr std::size_t kMostNodes = 12'000'000;

struct ToldCause {
  Cause cause;
  Root root;
  std::optional<Cause> leads_to;  // what followed from the cause, and is told behind it
  std::vector<ToldStep> steps;    // empty: no cause was found
  std::vector<std::pair<Cause, Root>> others;  // that lead to the failure, too
  std::vector<NodeId> led;                     // the failing run's slice, sorted
};

// Sets the sizes of the result's slices, and its lines.
[[nodiscard]] ToldCause tell_cause(TracedPair& pair, Naming& naming, const PathNode& failure,
                                   SliceShown shown, Explanation& result);

// How much a cause says about what should not have happened; 0: nothing.
[[nodiscard]] int worth_of(const Cause& cause);

// The lines at which it can be mended.
void add_root(std::vector<Location>& root, const std::optional<CauseEvent>& event);
void add_roots(std::vector<Location>& root, const Cause& cause);

// Of threads that wait for ever, first what the waits themselves show: a cycle is the whole story. Who
// waits for a signal has often read something too early; and who should have given it did not come there,
// for a reason that has a kind of its own.
void tell_waiting(TracedPair& pair, Naming& naming, SliceShown shown, Explanation& result);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_TOLD_CAUSE_H_
