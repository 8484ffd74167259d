// What a trace says about the memory that threads share. Searches that learn from traces use it.
#ifndef CLEW_HOST_TRACE_TRACE_SHARING_H_
#define CLEW_HOST_TRACE_TRACE_SHARING_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "host/trace/trace.h"

namespace clew {

// Eight aligned bytes, and which of them: visit(number, mask) for all that an access touches. Of a
// large one the first kMostGranules count, of what ends the life of something large the first
// kMostGranulesFreed: the work for a trace must be bounded.
inline constexpr std::uint64_t kMostGranules = 32;
inline constexpr std::uint64_t kMostGranulesFreed = 4096;
template <class Visit>
void for_each_granule(const TraceStep& event, Visit&& visit) {
  const std::uint64_t end = event.object + std::max<std::uint64_t>(event.size, 1);
  const std::uint64_t most = abi::ends_life(event.kind) ? kMostGranulesFreed : kMostGranules;
  const std::uint64_t last = std::min((end - 1) >> 3, (event.object >> 3) + most - 1);
  for (std::uint64_t granule = event.object >> 3; granule <= last; ++granule) {
    const std::uint64_t from = std::max(event.object, granule << 3) & 7;
    const std::uint64_t to = std::min(end - (granule << 3), std::uint64_t{8});
    visit(granule, static_cast<std::uint8_t>((0xffu << from) & (0xffu >> (8 - to))));
  }
}

// Whether the order with other threads' steps on the object can matter at all.
constexpr bool touches(const TraceStep& event) {
  using enum abi::StepKind;
  return event.object != 0 && event.kind != kOther && event.kind != kCreate && event.kind != kJoin;
}

// For each event whether it conflicts (rt::conflict()) with one of another thread. What happens
// while only one thread exists (before others are created, after they were joined) does not count.
[[nodiscard]] std::vector<bool> contended(std::span<const TraceStep> trace);

// For each event whether its thread was in a loop there, and had been for more than a round or two:
// it changed nothing, and made no steps but those that it had made shortly before. How many it makes
// depends on the run.
[[nodiscard]] std::vector<bool> in_loops(std::span<const TraceStep> trace);

}  // namespace clew

#endif  // CLEW_HOST_TRACE_TRACE_SHARING_H_
