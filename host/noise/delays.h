// What a delay right after each point does (Tzoref, Ur, Yom-Tov 2007, section 6: "given an event whose timing is central to
// revealing the bug there will be a large difference between creating the noise before the event or after it").
//
// The score of a point counts noise before it and after it alike, so that the change at one event shows at both of the edges
// around it. In the samples of a design, noise at a point always comes before the event or always after it (Sample::sides):
// so the two are told apart. Where one point always follows another, noise after the one and before the other are the
// same delay, and samples with either count.
#ifndef CLEW_HOST_NOISE_DELAYS_H_
#define CLEW_HOST_NOISE_DELAYS_H_

#include <set>
#include <span>
#include <vector>

#include "host/noise/points.h"
#include "host/noise/scores.h"

namespace clew {

// By point, in their order. `seen`: edges that runs took. Of samples without sides nothing is known: all scores are 1.
[[nodiscard]] std::vector<PointScore> score_delays_after(std::span<const Sample> samples,
                                                         std::span<const NoisePoint> points,
                                                         const std::set<PointEdge>& seen,
                                                         const CountFailed& failed,
                                                         std::uint32_t threshold);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_DELAYS_H_
