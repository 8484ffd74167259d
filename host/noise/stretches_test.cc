#include "host/noise/stretches.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

Location at(std::uint32_t line, const std::string& function) { return {"a.cpp", line, function}; }

NoisePoint point(std::vector<Location> stack) {
  NoisePoint result;
  result.at = stack.front();
  result.stacks.push_back(std::move(stack));
  return result;
}

constexpr double kStandsOut = 3;

// Delays before a point do what delays after it do.
DelayScores scores_of(const std::vector<double>& z) {
  DelayScores scores;
  for (const double one : z) {
    PointScore score;
    score.z = one;
    score.score = 1 + one / 10;
    scores.before.push_back(score);
  }
  scores.after = scores.before;
  return scores;
}

// `check` is called at line 5 of `use`, `act` at line 6.
std::vector<NoisePoint> check_and_act() {
  return {point({at(20, "check"), at(5, "use"), at(40, "run")}),
          point({at(30, "act"), at(6, "use"), at(40, "run")}), point({at(41, "run")})};
}

TEST(Stretches, AreToldInTheFunctionFromWhichBothEndsAreReached) {
  const std::vector<ScoredEdge> edges{{0, 1, true, 0, 0}};
  const auto found = stretches(edges, check_and_act(), scores_of({5, 6, 0}), kStandsOut);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, at(5, "use"));
  EXPECT_EQ(found[0].then, at(6, "use"));
  EXPECT_EQ(found[0].effect, DelayEffect::kFailsMore);
  EXPECT_DOUBLE_EQ(found[0].score, 1.5);
}

TEST(Stretches, NeedBothEndsToStandOutInTheSameDirection) {
  const std::vector<ScoredEdge> edges{{0, 1, true, 0, 0}, {1, 2, true, 0, 0}};
  EXPECT_TRUE(stretches(edges, check_and_act(), scores_of({5, 2, 5}), kStandsOut).empty());
  EXPECT_TRUE(stretches(edges, check_and_act(), scores_of({5, -5, 2}), kStandsOut).empty());
  const auto less = stretches(edges, check_and_act(), scores_of({-5, -6, 2}), kStandsOut);
  ASSERT_EQ(less.size(), 1u);
  EXPECT_EQ(less[0].effect, DelayEffect::kFailsLess);
}

// A loop: what matters is between 0 and 1, not on the way back.
TEST(Stretches, AreBetweenTheEndOfTheFirstAndTheBeginningOfTheSecond) {
  const std::vector<ScoredEdge> edges{{0, 1, true, 0, 0}, {1, 0, true, 0, 0}};
  DelayScores delays = scores_of({0, 0, 0});
  delays.after[0] = delays.before[1] = scores_of({5}).after[0];
  const auto found = stretches(edges, check_and_act(), delays, kStandsOut);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].from, 0u);
}

TEST(Stretches, WereSeenInARun) {
  const std::vector<ScoredEdge> edges{{0, 1, false, 0, 0}};
  EXPECT_TRUE(stretches(edges, check_and_act(), scores_of({5, 6, 0}), kStandsOut).empty());
}

TEST(Stretches, TheMostTellingComesFirst) {
  const std::vector<ScoredEdge> edges{{0, 1, true, 0, 0}, {1, 2, true, 0, 0}};
  const auto found = stretches(edges, check_and_act(), scores_of({4, 6, 5}), kStandsOut);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, at(40, "run"));
  EXPECT_EQ(found[0].then, at(41, "run"));
}

TEST(Stretches, OfDifferentVisitsHaveTheLinesOfThePoints) {
  auto points = check_and_act();
  points[1].stacks.push_back({at(30, "act"), at(9, "use"), at(40, "run")});
  const std::vector<ScoredEdge> edges{{0, 1, true, 0, 0}};
  const auto found = stretches(edges, points, scores_of({5, 6, 0}), kStandsOut);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, at(20, "check"));
  EXPECT_EQ(found[0].then, at(30, "act"));
}

}  // namespace
}  // namespace clew
