#include "host/noise/scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "host/noise/design.h"
#include "host/noise/edges.h"

namespace clew {
namespace {

std::uint32_t failed(const Sample& sample) { return sample.failed(); }

Sample sample_of(std::initializer_list<std::uint32_t> points, std::uint32_t failing,
                 std::uint32_t runs = 10) {
  Sample sample{Subset(3, std::vector<std::uint32_t>(points)), runs};
  sample.runs = runs;
  if (failing > 0) sample.failures[0] = failing;
  return sample;
}

TEST(Scores, AreOddsOverAllOdds) {
  std::vector<Sample> samples;
  for (int i = 0; i < 30; ++i) {
    samples.push_back(sample_of({0, 1}, 10));
    samples.push_back(sample_of({0, 2}, 10));
    samples.push_back(sample_of({1}, 0));
    samples.push_back(sample_of({2}, 0));
  }
  const Scores scores = score(samples, 3, failed);
  EXPECT_EQ(scores.threshold, 5u);
  EXPECT_EQ(scores.failing, 60u);
  EXPECT_NEAR(scores.points[0].score, 60.5 / 0.5, 1);
  EXPECT_NEAR(scores.points[1].score, 1, 1e-9);
  EXPECT_LT(scores.points[1].low, 1);
  EXPECT_GT(scores.points[1].high, 1);
  EXPECT_EQ(scores.ranking()[0], 0u);
  EXPECT_TRUE(scores.stands_out(0));
  EXPECT_FALSE(scores.stands_out(1));
}

// Section 5 of the paper: the mean, and at least 1.
TEST(Scores, ThresholdIsTheMeanRoundedDown) {
  const std::vector<Sample> samples{sample_of({0}, 5), sample_of({1}, 2), sample_of({2}, 0)};
  EXPECT_EQ(score(samples, 3, failed).threshold, 2u);
  EXPECT_EQ(score(samples, 3, failed).failing, 2u);
  EXPECT_EQ(score(samples, 3, failed, 3).failing, 1u);
  const std::vector<Sample> none{sample_of({0}, 0)};
  EXPECT_EQ(score(none, 3, failed).threshold, 1u);
}

// Of 200 campaigns in which nothing matters, about two have a point that stands out.
TEST(Scores, ChanceSeldomStandsOut) {
  Random random(5);
  int campaigns = 0;
  for (int campaign = 0; campaign < 200; ++campaign) {
    std::vector<Sample> samples;
    for (Subset& subset : random_design(30, 200, random.next())) {
      Sample sample{std::move(subset), 5};
      sample.runs = 5;
      for (int run = 0; run < 5; ++run) sample.failures[0] += random.below(10) < 2;
      samples.push_back(std::move(sample));
    }
    const Scores scores = score(samples, 30, failed);
    bool any = false;
    for (std::size_t i = 0; i < 30; ++i) any |= scores.stands_out(i);
    campaigns += any;
  }
  EXPECT_LE(campaigns, 8);
}

// Seven failing samples of 700 that all have the point: of all failing samples 65 % may have it
// (Wilson), 1.3 times as many as of the passing ones.
TEST(Scores, OfFewFailingSamplesHaveWideIntervals) {
  std::vector<Sample> samples;
  for (int i = 0; i < 7; ++i) samples.push_back(sample_of({0}, 1, 1));
  for (int i = 0; i < 343; ++i) samples.push_back(sample_of({0}, 0, 1));
  for (int i = 0; i < 350; ++i) samples.push_back(sample_of({1}, 0, 1));
  const Scores scores = score(samples, 3, failed);
  EXPECT_NEAR(scores.points[0].score, 1.89, 0.05);
  EXPECT_NEAR(scores.points[0].low, 1.29, 0.05);
  EXPECT_GT(scores.points[0].high, 2);
  EXPECT_LT(scores.points[1].low, 0.1);
  EXPECT_GT(scores.points[1].high, 0.3);
}

TEST(Rates, HaveIntervals) {
  const Rate rate{10, 100};
  EXPECT_NEAR(rate.low(), 0.0552, 0.001);  // Wilson's, as published for 10 of 100
  EXPECT_NEAR(rate.high(), 0.1744, 0.001);
  EXPECT_GT(probability_higher({90, 100}, {10, 100}), 0.9999);
  EXPECT_NEAR(probability_higher({50, 100}, {50, 100}), 0.5, 1e-9);
  EXPECT_NEAR(normal_tail(1.959963985), 0.025, 1e-6);
  EXPECT_NEAR(normal_quantile(0.025), 1.959963985, 1e-6);
}

TEST(Design, TakesTheLargestDeterminant) {
  const Design best = d_optimal_design(12, 60, 1, 50);
  const double value = log_determinant(best, 12);
  for (std::uint64_t i = 0; i < 50; ++i)
    EXPECT_LE(log_determinant(random_design(12, 60, job_seed(1, i)), 12), value + 1e-9);
  EXPECT_EQ(best, d_optimal_design(12, 60, 1, 50));
  std::size_t points = 0;
  for (const Subset& subset : best) points += subset.size();
  EXPECT_NEAR(static_cast<double>(points) / 60, 6, 1);
}

// By hand: X'X of {a}, {b}, {a, b} is [2 1; 1 2].
TEST(Design, DeterminantByHand) {
  const auto subset = [](std::vector<std::uint32_t> points) { return Subset(2, points); };
  EXPECT_NEAR(log_determinant({subset({0}), subset({1}), subset({0, 1})}, 2), std::log(3), 1e-9);
  EXPECT_TRUE(std::isfinite(log_determinant({subset({0})}, 2)));  // fewer samples than points
}

TEST(KolmogorovSmirnov, AgreesWithTables) {
  std::vector<double> a, b;
  for (int i = 0; i < 100; ++i) a.push_back(i), b.push_back(i + 30);
  const auto shifted = kolmogorov_smirnov(a, b);
  EXPECT_NEAR(shifted.d, 0.3, 1e-9);
  EXPECT_LT(shifted.p, 0.001);
  EXPECT_GT(shifted.p, 0.00001);
  EXPECT_NEAR(kolmogorov_smirnov(a, a).d, 0, 1e-9);
  EXPECT_NEAR(kolmogorov_smirnov(a, a).p, 1, 1e-6);
}

TEST(Edges, DropsArePositiveAndTheMostExtremeComesFirst) {
  Scores scores;
  for (const double value : {2.0, 1.0, 3.0, 1.5})
    scores.points.push_back({value, value * 0.9, value * 1.1});
  std::vector<NoisePoint> points(4);
  points[3].kind = abi::StepKind::kCreate;
  const std::set<PointEdge> seen{{0, 1}, {1, 2}, {2, 3}};
  const auto edges = score_edges({{0, 1}}, seen, points, scores.points);
  ASSERT_EQ(edges.size(), 2u);  // that to the start of a thread is left out
  EXPECT_EQ(edges[0].from, 1u);
  EXPECT_NEAR(edges[0].difference, -2, 1e-9);
  EXPECT_NEAR(edges[1].difference, 1, 1e-9);
  EXPECT_TRUE(edges[0].seen);
}

}  // namespace
}  // namespace clew
