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

// The same by numbers: the event of thread `first` at `first_clock` is put off until thread `second` has
// executed `events`, the last of which comes at `second_clock` in the failing run; 0: that ends before.
struct Flip {
  std::uint64_t first_clock = 0;
  std::uint64_t second_clock = 0;
  std::uint64_t events = 0;
};
[[nodiscard]] Schedule flipped(const Schedule& failing, const Flip& flip, const ThreadId& first,
                               const ThreadId& second);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_PAIR_H_
