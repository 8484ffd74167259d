// What let a thread come too early, where it got a pointer, and what it has read before that was changed
// since: questions about one run.
#ifndef CLEW_HOST_EXPLAIN_HAND_OVER_H_
#define CLEW_HOST_EXPLAIN_HAND_OVER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "host/explain/dual_slice.h"
#include "host/explain/traced_pair.h"

namespace clew {

// The last that `late_thread` did before the step `late` without which `early`, of another thread, could
// not have happened then: it has created the thread, woken it, or written what it went by, other than the
// memory at the address itself. `counts` says whether such a step may be it. Nothing: none was seen.
[[nodiscard]] std::optional<Instance> let_go(TracedPair& pair, Instance early,
                                             std::uint16_t late_thread, StepIndex late,
                                             std::uint64_t address,
                                             const std::function<bool(Instance)>& counts);

// Whether `on`, of the same thread, decides if or at which address `at` happens.
[[nodiscard]] bool depends_on(TracedPair& pair, Instance at, Instance on);

// Where the thread of `use` has last read a pointer to the memory at the address, from memory that is not its
// stack; and the allocation that it pointed to then, which may have been freed and its memory used again.
struct GotPointer {
  Instance read;
  const Allocation* memory = nullptr;
};
[[nodiscard]] std::optional<GotPointer> where_got(TracedPair& pair, Instance use,
                                                  std::uint64_t address);

// Another read of the same party that is compared or computed with what `use` has read, of what `other` writes,
// too. Both are parts of one thing, then.
//   kNew: it has got what `other` wrote before the step `until`
//   kOld: `other` writes it afterwards, before the step `until`
// `belongs(source, write)` says whether such a write is one that counts, if `source` wrote what was read.
enum class BesideAge : std::uint8_t { kNew, kOld };
struct ReadBeside {
  Instance read;
  Instance write;
  std::uint64_t address = 0;
  std::uint32_t size = 0;
};
[[nodiscard]] std::optional<ReadBeside> read_beside(
    TracedPair& pair, const DualSlice& slice, Instance use, PartyId other, StepIndex until,
    std::uint64_t address, BesideAge age, const std::function<bool(Instance, Instance)>& belongs);

// Where the thread of `at` has read what `write` wrote, and went by it to `at`: the nearest. Nothing: it went by something else.
[[nodiscard]] std::optional<ReadBeside> went_by(TracedPair& pair, Instance at, Instance write);

// A read that others have made out of date.
struct StaleRead {
  Instance read;
  std::uint32_t access = 0;  // of the block
  Instance write;            // the first by another thread behind it
  std::uint32_t write_access = 0;
};

// Of the failing run: what decides whether and to what address `at` happens, and was written by another
// thread between that and `until`. The nearest first.
//   kBranch: through one branch of the user's
//   kAll: through any number; and then what else the thread has read shortly before, since a loop that waits
//         decides when `at` happens, not whether. Updates count as reads
enum class StaleReach : std::uint8_t { kBranch, kAll };
[[nodiscard]] std::vector<StaleRead> stale_reads(TracedPair& pair, Instance at, StepIndex until,
                                                 StaleReach reach);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_HAND_OVER_H_
