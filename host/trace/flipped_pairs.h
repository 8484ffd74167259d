// Events that come in one order in a failing run and in the other in a passing run.
#ifndef CLEW_HOST_TRACE_FLIPPED_PAIRS_H_
#define CLEW_HOST_TRACE_FLIPPED_PAIRS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "host/trace/trace.h"

namespace clew {

struct EventPair {
  TraceStep first;   // in the failing run
  TraceStep second;  // clock 0: the failing run ends before it happens
  // Their clocks in the passing run.
  std::uint64_t first_when_passing = 0;
  std::uint64_t second_when_passing = 0;
};

// Pairs of conflicting events that come in one order in the failing run and in the other in the
// passing run, those first that the failing run comes to first. Events are the same if they are
// the same thread's n-th passage of a place. Traces: accesses and synchronisation, from where the runs part on.
[[nodiscard]] std::vector<EventPair> flipped_pairs(const Trace& failing, const Trace& passing,
                                                   std::size_t most);

// What two critical sections are about: if the pair is of the same lock being taken, the first pair
// of accesses made under it whose order changes with that of the sections.
[[nodiscard]] std::optional<EventPair> guarded_pair(const Trace& failing, const Trace& passing,
                                                    std::span<const EventPair> pairs,
                                                    const EventPair& locks);

}  // namespace clew

#endif  // CLEW_HOST_TRACE_FLIPPED_PAIRS_H_
