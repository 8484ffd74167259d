// Dual slicing (Weeratunge et al. 2010, algorithms 1 and 2), over two runs of any kind: whoever knows
// the runs gives their differences and dependences.
//
// Where this departs from the text:
//   - Line 3 of algorithm 1 has `and`: it would end at once, since the passing run's list begins empty.
//     It is `or`.
//   - Lines 16 to 21 (def-use differences) are for instances that have a counterpart: others have no
//     dependence that corresponds.
//   - VAL(s) of condition [4] includes s itself, and the condition is for the failing run alone.
//
// A slice can be as long as the run: instances are numbers in tables, and the pruned slice is made from the
// dual one, which has every difference that it can come to.
#ifndef CLEW_HOST_EXPLAIN_DUAL_SLICE_H_
#define CLEW_HOST_EXPLAIN_DUAL_SLICE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "host/explain/alignment.h"
#include "host/explain/slice_half.h"

namespace clew {

// Definition 2.
enum class Difference : std::uint8_t { kNone, kValue, kFlow };

struct NodeDependence {
  NodeId on = kNoNode;
  std::uint64_t use = 0;  // tells it from the node's others; the same in both runs
  bool control = false;
};

class TwoRuns {
 public:
  virtual ~TwoRuns() = default;
  virtual Difference difference(WhichRun side, NodeId node) = 0;
  virtual std::vector<NodeDependence> dependences(WhichRun side, NodeId node) = 0;
  // kNoNode: none.
  virtual NodeId counterpart(WhichRun side, NodeId node) = 0;
};

struct DualSlice {
  std::array<SliceHalf, 2> half;
  bool complete = true;  // false: it has more than was asked for
};

// Algorithm 1. From the failure, an instance of the failing run; and where it has a counterpart that is no
// difference, from both. Or from what the failing run has not done, an instance of the passing one.
[[nodiscard]] DualSlice dual_slice(TwoRuns& runs, NodeId failure, std::size_t most_nodes,
                                   WhichRun side = kFailing);

// Algorithm 2, from the same failure. REQUIRES: `dual` is that of dual_slice().
[[nodiscard]] DualSlice pruned_slice(TwoRuns& runs, const DualSlice& dual, NodeId failure,
                                     WhichRun side = kFailing);

enum class SliceEdges : std::uint8_t { kKept, kLeftOut };

// All that the failure depends on, in the failing run alone (Korel and Laski 1988).
[[nodiscard]] SliceHalf dynamic_slice(TwoRuns& runs, NodeId failure, std::size_t most_nodes,
                                      SliceEdges edges);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_DUAL_SLICE_H_
