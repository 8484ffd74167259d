// What a delay right before and right after each point does (Tzoref, Ur, Yom-Tov 2007, section 6: "given an event whose
// timing is central to revealing the bug there will be a large difference between creating the noise before the event or
// after it").
//
// With noise on either side of an event, a change of its effect at that event shows at both of the edges around it. In the
// samples of a design, noise at a point always comes before the event or always after it (Sample::sides): so the two are
// told apart. Where one point always follows another, noise after the one and before the other are the same delay, and
// samples with either count for both.
#ifndef CLEW_HOST_NOISE_DELAYS_H_
#define CLEW_HOST_NOISE_DELAYS_H_

#include <set>
#include <span>
#include <vector>

#include "host/noise/points.h"
#include "host/noise/scores.h"

namespace clew {

struct DelayScores {  // by point, in their order
  std::vector<PointScore> before;
  std::vector<PointScore> after;
};

// `seen`: edges that runs took. Of samples without sides nothing is known: all scores are 1.
[[nodiscard]] DelayScores score_delays(std::span<const Sample> samples, std::size_t points,
                                       const std::set<PointEdge>& seen, const CountFailed& failed,
                                       std::uint32_t threshold);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_DELAYS_H_
