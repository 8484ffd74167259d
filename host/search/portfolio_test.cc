#include "host/search/portfolio.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

// A program without threads: nothing to direct anything at.
JobReport quiet(std::uint64_t interleaving) {
  JobReport report;
  report.result.interleaving = interleaving;
  report.new_interleaving = interleaving != 0;
  report.result.scheduling_points = 10;
  return report;
}

std::vector<JobPlan> all_of(std::uint64_t seed, const std::vector<std::size_t>& rounds) {
  PortfolioSearch search(seed);
  std::vector<JobPlan> all;
  for (const std::size_t size : rounds) {
    const std::vector<JobPlan> plans = search.next(size);
    for (const JobPlan& plan : plans) search.learn(plan, quiet(all.size() % 3));
    all.insert(all.end(), plans.begin(), plans.end());
  }
  return all;
}

TEST(Portfolio, BeginsInLockstep) {
  const auto plans = all_of(1, {1});
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].strategy, abi::StrategyKind::kRoundRobin);
}

TEST(Portfolio, SameSeedSameJobs) {
  const std::vector<std::size_t> rounds{1, 1, 1, 2, 4, 64, 64};
  EXPECT_EQ(all_of(5, rounds), all_of(5, rounds));
  EXPECT_NE(all_of(5, rounds), all_of(6, rounds));
}

TEST(Portfolio, GivesEverySearchAShare) {
  std::map<abi::StrategyKind, int> jobs;
  for (const JobPlan& plan : all_of(1, {1, 1, 1, 1, 500, 500})) ++jobs[plan.strategy];
  for (const abi::StrategyKind kind : {abi::StrategyKind::kPos, abi::StrategyKind::kPct,
                                       abi::StrategyKind::kRff, abi::StrategyKind::kRandom})
    EXPECT_GT(jobs[kind], 20) << static_cast<int>(kind);
}

}  // namespace
}  // namespace clew
