#include "host/search/portfolio.h"

#include <gtest/gtest.h>

#include <map>

#include "clew_abi/guides.h"

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

// Small rounds, as long as they are, then large ones.
std::vector<std::size_t> thorough() {
  std::vector<std::size_t> rounds(40, 1);
  rounds.insert(rounds.end(), {500, 500, 1000});
  return rounds;
}

TEST(Portfolio, BeginsWithAWalkAndLockstep) {
  const auto plans = all_of(1, {1, 1});
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].strategy, abi::StrategyKind::kRandom);
  EXPECT_EQ(plans[1].strategy, abi::StrategyKind::kRoundRobin);
}

TEST(Portfolio, SameSeedSameJobs) {
  const std::vector<std::size_t> rounds{1, 1, 1, 2, 4, 64, 64};
  EXPECT_EQ(all_of(5, rounds), all_of(5, rounds));
  EXPECT_NE(all_of(5, rounds), all_of(6, rounds));
}

TEST(Portfolio, GivesEverySearchAShare) {
  std::map<abi::StrategyKind, int> jobs;
  for (const JobPlan& plan : all_of(1, thorough())) ++jobs[plan.strategy];
  using enum abi::StrategyKind;
  for (const abi::StrategyKind kind : {kPos, kPct, kRff, kRandom, kChaos, kTimer})
    EXPECT_GT(jobs[kind], 10) << static_cast<int>(kind);
  EXPECT_GT(jobs[kPrefix], 0) << "exhaustive";
  EXPECT_GT(jobs[kPlan], 0) << "period";
}

// At first each run may tell the next what is not worth trying: two at a time.
TEST(Portfolio, FillsItsRoundsAfterTheFirst) {
  PortfolioSearch search(1);
  std::size_t done = 0;
  for (const std::size_t size : {1, 1, 2, 8, 64, 512}) {
    const std::vector<JobPlan> plans = search.next(size);
    EXPECT_EQ(plans.size(), std::min<std::size_t>(size, 2));
    done += plans.size();
    for (const JobPlan& plan : plans) search.learn(plan, quiet(1));
  }
  while (done < 40) {
    const std::vector<JobPlan> plans = search.next(2);
    done += plans.size();
    for (const JobPlan& plan : plans) search.learn(plan, quiet(1));
  }
  for (const std::size_t size : {1, 64, 512}) {
    const std::vector<JobPlan> plans = search.next(size);
    EXPECT_EQ(plans.size(), size);
    for (const JobPlan& plan : plans) search.learn(plan, quiet(1));
  }
}

TEST(Portfolio, AProgramThatEndsTooSoonIsMadeToLinger) {
  for (const bool ends_early : {false, true}) {
    PortfolioSearch search(1);
    int lingering = 0;
    int sampled = 0;
    for (int round = 0; round < 200; ++round) {
      for (const JobPlan& plan : search.next(1)) {
        if (plan.strategy == abi::StrategyKind::kPos) {
          ++sampled;
          lingering += plan.parameters[abi::kPlanLinger] > 0;
        }
        JobReport report = quiet(1);
        report.result.threads = 3;
        report.result.clock = 50;
        report.result.company = ends_early ? 50 : 40;
        search.learn(plan, report);
      }
    }
    EXPECT_GT(sampled, 20);
    EXPECT_EQ(lingering > sampled / 2, ends_early);
    EXPECT_EQ(lingering > 0, ends_early);
    EXPECT_LT(lingering, sampled);
  }
}

// Its run without preemptions shows nothing of the threads; lockstep, which lingers, does. Both end when
// the main thread does, with the others' last step just made.
TEST(Portfolio, PeriodKnowsTheThreadsOfAProgramThatEndsTooSoon) {
  PortfolioSearch search(1);
  int turns_of_period = 0;
  for (int round = 0; round < 100; ++round) {
    for (const JobPlan& plan : search.next(1)) {
      const bool all_points = (plan.flags & abi::kJobAllPoints) != 0;
      turns_of_period += plan.strategy == abi::StrategyKind::kPlan && all_points;
      JobReport report = quiet(1);
      report.result.threads = 3;
      report.result.clock = report.result.company = 50;
      if (all_points && (plan.flags & abi::kJobTrace) != 0) {
        report.trace.complete = true;
        report.trace.steps.push_back({.place = 1, .kind = abi::StepKind::kOther});
        if (plan.strategy == abi::StrategyKind::kRoundRobin)
          for (std::uint16_t thread = 1; thread <= 2; ++thread)
            for (abi::Place place = 2; place <= 3; ++place)
              report.trace.steps.push_back({.thread = abi::ThreadKey{thread} + 100,
                                            .place = place,
                                            .object = 0x1000,
                                            .own = place,
                                            .size = 4,
                                            .index = thread,
                                            .kind = abi::StepKind::kWrite});
      }
      search.learn(plan, report);
    }
  }
  EXPECT_GT(turns_of_period, 3);
}

// Runs of the directed search that wait in loops for a thread that is held.
TEST(Portfolio, WhatTakesManyTimesTheStepsGetsFewerTurns) {
  std::map<std::uint64_t, int> turns;
  for (const std::uint64_t steps : {100, 100'000}) {
    PortfolioSearch search(1);
    for (int round = 0; round < 1000; ++round)
      for (const JobPlan& plan : search.next(1)) {
        const bool dear = plan.strategy == abi::StrategyKind::kRandom;
        turns[steps] += dear;
        JobReport report = quiet(1);
        report.result.clock = dear ? steps : 100;
        search.learn(plan, report);
      }
  }
  EXPECT_GT(turns[100], 30);
  EXPECT_LT(turns[100'000], turns[100] / 4);
}

// Its sampled runs are decided on at a part of their points: those who decide at all of them get turns
// by what these cost, the first one, too, and nobody asks for traces, once one did not fit.
TEST(Portfolio, ALongProgram) {
  using enum abi::StrategyKind;
  constexpr std::uint64_t kClock = 2'500'000;
  PortfolioSearch search(1);
  int dear = 0;
  bool overflowed = false;
  for (int round = 0; round < 100; ++round) {
    for (const JobPlan& plan : search.next(1)) {
      const bool sampled = plan.strategy != kRoundRobin && plan.strategy != kPlan &&
                           plan.strategy != kPrefix && plan.strategy != kTimer &&
                           plan.strategy != kChaos;
      const bool traced = (plan.flags & abi::kJobTrace) != 0;
      dear += !sampled && plan.strategy != kTimer && plan.strategy != kChaos;
      EXPECT_FALSE(overflowed && sampled && traced) << round;
      overflowed |= sampled && traced;
      JobReport report = quiet(1);
      report.result.clock = kClock;
      report.result.scheduling_points = sampled ? 30'000 : kClock;
      report.result.uncovered = sampled ? abi::kUncoveredRest : 0;
      search.learn(plan, report);
    }
  }
  EXPECT_TRUE(overflowed);
  EXPECT_LE(dear, 1);
}

}  // namespace
}  // namespace clew
