// Zooming in (Tzoref, Ur, Yom-Tov 2007, section 5): how much the score changes from a point to the
// next along the control flow. Where many points make a bug appear, the place where that changes
// tells more than the points themselves. What is compared is what a delay right after each does (delays.h), so that the
// edge whose end is the event that matters has the change, and not its neighbours as well.
#ifndef CLEW_HOST_NOISE_EDGES_H_
#define CLEW_HOST_NOISE_EDGES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "host/noise/points.h"
#include "host/noise/scores.h"

namespace clew {

struct ScoredEdge {
  std::uint32_t from = 0, to = 0;  // points, by position
  bool seen = false;               // in a run; otherwise only the program's code has it
  double difference =
      0;         // of the scores of a delay after `from` and one after `to`: a drop is positive
  double z = 0;  // of the logarithms of these two, in standard deviations
};

// `after`: by point, the scores of delays after it.
// All edges of the control flow, from the code (host/model/point_flow.h) or seen in runs, but those at points that
// start threads, the most extreme first.
[[nodiscard]] std::vector<ScoredEdge> score_edges(const std::set<PointEdge>& in_code,
                                                  const std::set<PointEdge>& seen,
                                                  std::span<const NoisePoint> points,
                                                  std::span<const PointScore> after);

// The test of Kolmogorov and Smirnov for two samples.
struct KolmogorovSmirnov {
  double d = 0;
  double p = 1;
};
[[nodiscard]] KolmogorovSmirnov kolmogorov_smirnov(std::vector<double> a, std::vector<double> b);

// Of the scores of points, which the paper's figures 3 and 4 show: those of consecutive points against those of arbitrary pairs.
struct Differences {
  std::vector<double> consecutive;
  std::vector<double> arbitrary;
};
[[nodiscard]] Differences differences(std::span<const ScoredEdge> edges,
                                      std::span<const NoisePoint> points, const Scores& scores);

}  // namespace clew

#endif  // CLEW_HOST_NOISE_EDGES_H_
