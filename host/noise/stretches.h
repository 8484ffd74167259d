// Where along the control flow delays matter, as stretches between two lines of one function: consecutive
// points, seen in this order in a run, where a delay after the first stands out, and one before the second, in the same direction.
#ifndef CLEW_HOST_NOISE_STRETCHES_H_
#define CLEW_HOST_NOISE_STRETCHES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "host/noise/delays.h"
#include "host/noise/edges.h"
#include "host/noise/points.h"
#include "host/noise/scores.h"

namespace clew {

enum class DelayEffect : std::uint8_t { kFailsMore, kFailsLess };

struct Stretch {
  std::uint32_t from = 0, to = 0;  // points, by position
  // In the innermost function from which both points are reached, if it is known: the lines there, which may be calls of
  // what the points are in. Otherwise the lines of the points themselves.
  Location first, then;
  DelayEffect effect = DelayEffect::kFailsMore;
  double score = 1;  // of the delays, as seen from the end from which they stand out less
};

// The most telling first: those with which it fails more often, then the others. One for each pair of lines.
[[nodiscard]] std::vector<Stretch> stretches(std::span<const ScoredEdge> edges,
                                             std::span<const NoisePoint> points,
                                             const DelayScores& delays, double z_to_stand_out);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_STRETCHES_H_
