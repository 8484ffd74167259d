// Condition [4] of algorithm 2: which value differences can be reached from an instance of the failing run.
//
// Exact as long as few value differences come first on the ways from an instance; beyond that, and beyond a
// number of questions that is remembered, the answer is the one that keeps more in the slice. So it is for what depends
// on something that has a higher number in the slice: what is released inside a call that has not ended, for example.
#ifndef CLEW_HOST_EXPLAIN_VALUE_REACH_H_
#define CLEW_HOST_EXPLAIN_VALUE_REACH_H_

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/explain/dual_slice.h"

namespace clew {

class ValueReach {
 public:
  ValueReach(TwoRuns& runs, const SliceHalf& failing);

  // VAL({on}) - VAL(CD(node)) is not empty. Both by their place in the slice.
  [[nodiscard]] bool reaches_more(std::uint32_t node, std::uint32_t on);

 private:
  // The value differences that come first on all ways from a node, itself left out.
  struct Behind {
    std::uint32_t first = kUnknown;
    std::uint32_t count = 0;  // kMany: more than are kept
  };
  static constexpr std::uint32_t kUnknown = UINT32_MAX;
  static constexpr std::uint32_t kMany = UINT32_MAX;
  static constexpr std::size_t kMostKept = 32;
  static constexpr std::size_t kMostAnswers = std::size_t{4} << 20;

  [[nodiscard]] Difference difference(std::uint32_t node) {
    return runs_.difference(kFailing, half_.nodes[node]);
  }
  const Behind& behind(std::uint32_t node);
  [[nodiscard]] std::span<const std::uint32_t> values(const Behind& of) const {
    return std::span(values_).subspan(of.first, of.count);
  }
  void find_behind(std::uint32_t node);
  bool reaches(std::uint32_t from, std::uint32_t value);

  TwoRuns& runs_;
  const SliceHalf& half_;
  std::vector<Behind> behind_;  // of each node
  std::vector<std::uint32_t> values_;
  std::unordered_map<std::uint64_t, bool> answers_;  // of reaches()
};

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_VALUE_REACH_H_
