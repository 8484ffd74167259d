#include "host/search/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "clew_abi/guides.h"

namespace clew {
namespace {

using abi::StrategyKind;

TEST(Random, IsSplitMix64) {
  Random random(1234567);  // the reference implementation's first outputs
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
}

TEST(Random, GaussianHasMeanZeroAndVarianceOne) {
  Random random(7);
  constexpr int kCount = 200'000;
  double sum = 0, squares = 0;
  int within_one = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.gaussian();
    sum += x;
    squares += x * x;
    within_one += std::abs(x) < 1;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.015);
  EXPECT_NEAR(within_one / double{kCount}, 0.6827, 0.005);
}

TEST(Random, BelowCoversItsRange) {
  Random random(3);
  std::array<int, 7> seen{};
  for (int i = 0; i < 70'000; ++i) ++seen[random.below(7)];
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(JobSeed, NeighbouringSeedsShareNoJob) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (std::uint64_t job = 0; job < 100; ++job) seen.insert(job_seed(seed, job));
  EXPECT_EQ(seen.size(), 5000u);
}

std::vector<JobPlan> take(Search& search, std::initializer_list<std::size_t> rounds) {
  std::vector<JobPlan> all;
  for (const std::size_t most : rounds)
    for (JobPlan& job : search.next(most)) all.push_back(std::move(job));
  return all;
}

TEST(SamplingSearch, SameSeedSameJobsHoweverTheyAreAskedFor) {
  for (const StrategyKind kind :
       {StrategyKind::kRandom, StrategyKind::kPos, StrategyKind::kChaos, StrategyKind::kTimer}) {
    SamplingSearch one(kind, 5, 3), other(kind, 5, 3), different(kind, 6, 3);
    const std::vector<JobPlan> jobs = take(one, {1, 2, 5, 8});
    EXPECT_EQ(jobs, take(other, {16}));
    EXPECT_NE(jobs, take(different, {16}));
    for (const JobPlan& job : jobs) EXPECT_EQ(job.strategy, kind);
  }
}

TEST(SamplingSearch, PctLearnsTheLength) {
  SamplingSearch search(StrategyKind::kPct, 1, 4);
  const std::vector<JobPlan> first = search.next(8);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].strategy, StrategyKind::kPos);
  JobReport report;
  report.result.scheduling_points = 730;
  search.learn(first[0], report);
  const std::vector<JobPlan> second = search.next(2);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0].strategy, StrategyKind::kPct);
  EXPECT_EQ(second[0].parameters, (std::array<std::uint64_t, 4>{4, 730, 0, 0}));
  report.result.scheduling_points = 700;
  search.learn(second[0], report);
  report.result.scheduling_points = 800;
  search.learn(second[1], report);
  EXPECT_EQ(search.next(1)[0].parameters[abi::kPctSteps], 800u);
  EXPECT_EQ(search.using_now(), "pct");
}

TEST(SamplingSearch, NoneIsOneRun) {
  SamplingSearch search(StrategyKind::kNone, 1, 3);
  EXPECT_FALSE(search.conclusion());
  EXPECT_EQ(search.next(8).size(), 1u);
  EXPECT_TRUE(search.next(8).empty());
  EXPECT_TRUE(search.conclusion());
}

}  // namespace
}  // namespace clew
