// Delta Debugging: the algorithm dd of Choi and Zeller 2002, figure 7, which narrows the difference
// between what passes and what fails.
//
// The paper's atomic changes come here in groups, those of one group being interchangeable: only
// how many of them are applied makes a difference. So sets of changes are counts, one for each
// group, all parts of one size of a group are one test, and a group of 10^12 changes costs no more
// than its logarithm.
//
// The subsets of figure 7 are first runs of consecutive whole groups: 2, 4, ... of them until each
// is one group; then parts of groups: the half of each, a quarter, ... one change of each
// ("intelligent" splitting, section 4.5). In a misprint of the figure the second rule takes
// D_i from c_pass; it is to be taken from c_fail.
//
// Deviations:
//  - Rules 3 and 4 are used for all subsets that they hold for, each tested on top of those
//    before, and not for one of them only: a round narrows as many groups as it can.
//  - A split by position first tries the same part of all groups together, for changes that make
//    sense only together.
//  - Narrowing by position stays there, with the same parts, and does not go back to whole groups.
//    If it succeeds twice in a row, then twice as large parts are tried again.
#ifndef CLEW_HOST_ISOLATE_DD_H_
#define CLEW_HOST_ISOLATE_DD_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/outcome.h"

namespace clew {

// How many changes of each group are applied.
using Counts = std::vector<std::uint64_t>;
// A sum of them, which may exceed 64 bits.
__extension__ using DeltaCount = unsigned __int128;

class DdOracle {
 public:
  virtual ~DdOracle() = default;

  // The outcome with these changes applied. Never asked twice for the same ones.
  [[nodiscard]] virtual Verdict test(const Counts& applied) = 0;

  // The outcome if it is known without a run, as that of an invalid schedule is (axiom 7). This
  // does not count as a test, and may be asked for changes that are never tested.
  [[nodiscard]] virtual std::optional<Verdict> known(const Counts& applied);

  // Called before each test: what is to be tested next if this one passes, and if it fails. First
  // the very next, then the two that may follow it: that after a pass, that after a fail. Any of
  // them may be missing.
  virtual void expect(const Counts& tested, std::span<const Counts> if_pass,
                      std::span<const Counts> if_fail);

  // Asked before each test, and after one that is unresolved. False: stop now, with what there is.
  [[nodiscard]] virtual bool go_on() { return true; }
};

struct DdResult {
  // Invariant: passing <= failing everywhere; the one was found to pass, the other to fail.
  Counts passing, failing;
  std::uint64_t tests = 0;  // calls of DdOracle::test
  // Definition 16, shown by tests: neither does one change of any group more pass, nor does one
  // less fail. False only if it was stopped.
  bool minimal = false;
};

// REQUIRES: passing <= failing everywhere, not equal; the one passes, the other fails.
[[nodiscard]] DdResult dd(DdOracle& oracle, Counts passing, Counts failing,
                          std::uint64_t most_tests);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_DD_H_
