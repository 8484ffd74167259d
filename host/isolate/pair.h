// The critical pair: two events of different threads whose order decides between failing and
// passing. Found by comparing a failing and a passing run that are nearly the same, and confirmed
// by a run in which nothing but their order is changed.
#ifndef CLEW_HOST_ISOLATE_PAIR_H_
#define CLEW_HOST_ISOLATE_PAIR_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "clew_abi/job.h"
#include "host/schedule/schedule.h"

namespace clew {

struct EventPair {
  abi::TraceEvent first;   // in the failing run
  abi::TraceEvent second;  // clock 0: the failing run ends before it happens
};

// Pairs of conflicting events that come in one order in the failing run and in the other in the
// passing run, in the order of the failing run. Events are the same if thread and
// own number are, and the place. Traces: accesses and synchronisation, from where the runs part on.
[[nodiscard]] std::vector<EventPair> flipped_pairs(std::span<const abi::TraceEvent> failing,
                                                   std::span<const abi::TraceEvent> passing,
                                                   std::size_t most);

// What two critical sections are about: if the pair is of the same lock being taken, the first pair
// of accesses made under it whose order changes with that of the sections.
[[nodiscard]] std::optional<EventPair> guarded_pair(std::span<const abi::TraceEvent> failing,
                                                    std::span<const abi::TraceEvent> passing,
                                                    std::span<const EventPair> pairs,
                                                    const EventPair& locks);

// The schedule with the second event of the pair before the first, and all else as it was: the
// thread of the first is stopped before it, and the other runs up to and including the second; what
// the schedule says about later clocks is delayed accordingly. `trace` is of the failing run.
// `first`, `second`: the threads.
[[nodiscard]] Schedule flipped(const Schedule& failing, std::span<const abi::TraceEvent> trace,
                               const EventPair& pair, const ThreadId& first,
                               const ThreadId& second);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_PAIR_H_
