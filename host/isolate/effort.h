// How long one way of looking for a simpler failing schedule may try without finding one.
//
// The more items are left, the likelier it is that fewer will do, and the more of them there are to gain.
// Runs that take tens of microseconds are bounded by their number, which each way has a limit for;
// these seconds bound those that take milliseconds (timers, many threads). A way that finds something
// is followed by all of them again, so what pays is continued.
#ifndef CLEW_HOST_ISOLATE_EFFORT_H_
#define CLEW_HOST_ISOLATE_EFFORT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace clew {

// Chosen so that all ways together take some four seconds where there is one item to gain, and some ten
// where there are more.
inline constexpr double kSecondsPerItem = 0.5;
inline constexpr double kMostSecondsOfOneWay = 1;
// Of a schedule with more items, other failing runs are tried first: one of them may do with a few, and
// what is tried with all of these items takes long.
inline constexpr std::size_t kManyItems = 4;

// For a schedule of so many items.
[[nodiscard]] inline double seconds_to_try(std::size_t items) {
  const std::size_t to_gain = std::max<std::size_t>(items, 2) - 1;
  return std::min(kSecondsPerItem * static_cast<double>(to_gain), kMostSecondsOfOneWay);
}

// How often other failing runs are sampled.
[[nodiscard]] inline std::uint64_t samplings(std::size_t items) {
  constexpr std::size_t kMost = 3;  // chosen, not measured
  return std::min(std::max<std::size_t>(items, 2) - 1, kMost);
}

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_EFFORT_H_
