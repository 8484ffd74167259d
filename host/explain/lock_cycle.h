// Threads that wait for each other's locks, tested by a schedule: one of them takes its first lock only when the
// thread that waits for it has had it.
#ifndef CLEW_HOST_EXPLAIN_LOCK_CYCLE_H_
#define CLEW_HOST_EXPLAIN_LOCK_CYCLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "host/explain/laboratory.h"

namespace clew {

// The clock of the failing run at which the last of a cycle's locks is taken, if a run in which that comes later, and
// which is the failing one up to there, passes. Nothing: there is no cycle, or the run does not pass, or the locks
// were not seen to be taken in that order.
[[nodiscard]] std::optional<std::uint64_t> passes_if_taken_in_turn(Laboratory& laboratory,
                                                                   const Replay& failing);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_LOCK_CYCLE_H_
