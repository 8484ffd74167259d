#include "host/noise/delays.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "host/noise/design.h"
#include "host/noise/edges.h"

namespace clew {
namespace {

// Four points in a row, with the places 100, 101, ...
struct StraightLine {
  std::vector<NoisePoint> points = std::vector<NoisePoint>(4);
  std::set<PointEdge> seen{{0, 1}, {1, 2}, {2, 3}};
  StraightLine() {
    for (std::uint32_t i = 0; i < 4; ++i) points[i].place = 100 + i;
  }
  // Samples that fail if a delay comes between points 1 and 2.
  [[nodiscard]] std::vector<Sample> samples() const {
    std::vector<Sample> result;
    Random random(7);
    for (Subset& subset : random_design(4, 400, 3)) {
      Sample sample{std::move(subset), 1};
      sample.runs = 1;
      sample.sides = random.next() | 1;
      sample.after = points_after(points, sample.sides);
      if (sample.delays_after(1) || sample.delays_before(2)) sample.failures[0] = 1;
      result.push_back(std::move(sample));
    }
    return result;
  }
};

std::uint32_t failed(const Sample& sample) { return sample.failed(); }

TEST(Delays, TheChangeIsAtTheEventAndNotAtItsNeighbours) {
  const StraightLine line;
  const auto samples = line.samples();
  const auto after = score_delays(samples, 4, line.seen, failed, 1).after;
  EXPECT_GT(after[1].score, 10);
  EXPECT_GT(after[1].z, 5);
  for (const std::uint32_t i : {0, 2, 3}) EXPECT_LT(after[i].z, 3) << i;
  const auto edges = score_edges({}, line.seen, line.points, after);
  const auto by_difference = [](const ScoredEdge& edge) { return edge.difference; };
  const ScoredEdge drop = std::ranges::max(edges, {}, by_difference);
  const ScoredEdge rise = std::ranges::min(edges, {}, by_difference);
  EXPECT_EQ(PointEdge(drop.from, drop.to), PointEdge(1, 2));
  EXPECT_EQ(PointEdge(rise.from, rise.to), PointEdge(0, 1));
  // Noise on either side cannot tell the two around it from each other.
  const Scores scores = score(samples, 4, failed);
  EXPECT_NEAR(scores.points[1].score, scores.points[2].score, 0.5);
  EXPECT_EQ(scores.sides[1].side, NoiseSide::kAfter);
  EXPECT_EQ(scores.sides[2].side, NoiseSide::kBefore);
}

// Noise before a point that is reached on several ways says nothing of one of them.
TEST(Delays, NoiseBeforeAPointCountsForTheOneThatAlwaysComesBefore) {
  const StraightLine line;
  std::set<PointEdge> joined = line.seen;
  joined.insert({3, 2});
  const auto samples = line.samples();
  const auto alone = score_delays(samples, 4, joined, failed, 1).after;
  double with = 0;
  for (const Sample& sample : samples) with += sample.delays_after(1);
  EXPECT_NEAR(alone[1].hue, (with + 0.5) / (with + 1), 1e-9);
}

TEST(Delays, NothingIsKnownOfSamplesWithoutSides) {
  const StraightLine line;
  auto samples = line.samples();
  for (Sample& sample : samples) sample.sides = 0;
  const DelayScores delays = score_delays(samples, 4, line.seen, failed, 1);
  for (const PointScore& score : delays.after) EXPECT_EQ(score.score, 1);
}

}  // namespace
}  // namespace clew
