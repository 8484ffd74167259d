// The critical pair: two events of different threads whose order decides between failing and
// passing. Found by comparing a failing and a passing run that are nearly the same, and confirmed
// by a run in which nothing but their order is changed.
#ifndef CLEW_HOST_ISOLATE_PAIR_H_
#define CLEW_HOST_ISOLATE_PAIR_H_

#include "host/schedule/schedule.h"
#include "host/trace/flipped_pairs.h"

namespace clew {

// The schedule with the second event of the pair before the first, and all else as it was: the
// thread of the first is stopped before it, and the other runs up to and including the second; what
// the schedule says about later clocks is delayed accordingly. `trace` is of the failing run.
// `first`, `second`: the threads.
[[nodiscard]] Schedule flipped(const Schedule& failing, const Trace& trace, const EventPair& pair,
                               const ThreadId& first, const ThreadId& second);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_PAIR_H_
