#include "runtime/strategy/pct.h"

#include <gtest/gtest.h>

#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

constexpr std::uint64_t kRuns = 20'000;

abi::Job pct_job(std::uint64_t depth, std::uint64_t steps, std::uint64_t seed = 0) {
  abi::Job job = make_job(seed);
  job.parameters[abi::kPctDepth] = depth;
  job.parameters[abi::kPctSteps] = steps;
  return job;
}

TEST(Pct, DepthOneIsARandomOrderOfThreads) {
  const Program program{private_steps(0, 2), private_steps(1, 2), private_steps(2, 1)};
  EXPECT_LT(deviation(sample<Pct>(program, pct_job(1, 5), kRuns),
                      uniform({"aabbc", "aacbb", "bbaac", "bbcaa", "caabb", "cbbaa"})),
            4);
}

TEST(Pct, ThreadsCreatedLaterTakeARandomPlace) {
  Program program{private_steps(0, 2), private_steps(1, 1), private_steps(2, 1)};
  program[0].steps.insert(program[0].steps.begin(), {create(1), create(2)});
  program[1].from_start = program[2].from_start = false;
  // From high to low: abc, acb, bac (b as soon as it exists), bca, cab, cba.
  const std::map<std::string, double> expected{{"aaaabc", 1 / 6.},
                                               {"aaaacb", 1 / 6.},
                                               {"abaaac", 1 / 6.},
                                               {"abacaa", 1 / 6. + 1 / 6.},
                                               {"aacaab", 1 / 6.}};
  EXPECT_LT(deviation(sample<Pct>(program, pct_job(1, 6), kRuns), expected), 4);
}

// Two threads, two steps each, one change before step 1, 2, 3 or 4. By hand, for a above b (b above
// a is the mirror image): before 1: bbaa; 2: abba; 3: aabb, since b, whose turn it is, is alone; 4
// likewise.
TEST(Pct, DepthTwoByHand) {
  const Program program{private_steps(0, 2), private_steps(1, 2)};
  const std::map<std::string, double> expected{
      {"bbaa", 1 / 8. + 2 / 8.}, {"abba", 1 / 8.}, {"aabb", 1 / 8. + 2 / 8.}, {"baab", 1 / 8.}};
  EXPECT_LT(deviation(sample<Pct>(program, pct_job(2, 4), kRuns), expected), 4);
}

// a is alone for its first two steps. A change before one of them: b is above a when it comes. By
// hand for a change before 1 or 2; 3; 4; 5, and a above b or not.
TEST(Pct, AThreadAloneFallsToo) {
  Program program{{{write(0x10, 1), create(1), write(0x20, 2), write(0x30, 3)}},
                  private_steps(1, 1)};
  program[1].from_start = false;
  const std::map<std::string, double> expected{
      {"aabaa", 4 / 10. + 1 / 10. + 1 / 10. + 1 / 10.}, {"aaaab", 2 / 10.}, {"aaaba", 1 / 10.}};
  EXPECT_LT(deviation(sample<Pct>(program, pct_job(2, 5), kRuns), expected), 4);
}

// The order in which the priorities of change points are handed out is not that of time: after two
// changes the thread that fell first may be above the one that fell second, and below.
TEST(Pct, ChangePointsAreNotOrderedByTime) {
  const Program program{private_steps(0, 3), private_steps(1, 3)};
  const auto counts = sample<Pct>(program, pct_job(3, 6), kRuns);
  // a above b, a falls before step 2, b before step 3: who goes on is a coin's toss.
  EXPECT_GT(counts.at("abbbaa"), 0u);
  EXPECT_GT(counts.at("abaabb"), 0u);
}

// A bug of depth 2: c before the middle one of a's steps, and a's first before c.
TEST(Pct, BoundOfThePaper) {
  const Program program{private_steps(0, 5), private_steps(1, 5), private_steps(2, 1)};
  std::uint64_t hits = 0;
  for (const auto& [order, count] : sample<Pct>(program, pct_job(2, 11), kRuns)) {
    const std::size_t c = order.find('c');
    std::size_t as_before = 0;
    for (std::size_t i = 0; i < c; ++i) as_before += order[i] == 'a';
    if (as_before == 2) hits += count;
  }
  EXPECT_GE(static_cast<double>(hits) / kRuns, 1 / (3 * 11.));
}

TEST(Pct, MoreChangesThanStepsAreAllOfThem) {
  const Program program{private_steps(0, 2), private_steps(1, 2)};
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    EXPECT_EQ(run_once<Pct>(program, pct_job(UINT64_MAX, 3, seed)).order.size(), 4u);
  EXPECT_EQ(run_once<Pct>(program, pct_job(3, UINT64_MAX, 1)).order.size(), 4u);
  EXPECT_EQ(run_once<Pct>(program, pct_job(0, 0, 1)).order.size(), 4u);
}

TEST(Pct, SpinningThreadsFall) {
  const Program program{{{spin_until_written(0x40, 1), write(0x80, 2)}}, {{write(0x40, 3)}}};
  bool spun = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome run = run_once<Pct>(program, pct_job(1, 4, seed), 10'000);
    EXPECT_FALSE(run.too_long) << "seed " << seed;
    spun |= run.order.size() > Pct::kSpinSteps;
  }
  EXPECT_TRUE(spun);
}

TEST(Pct, LongRunsOverDifferentObjectsAreNotSpinning) {
  const Program program{private_steps(0, 5000), private_steps(1, 5000)};
  EXPECT_EQ(run_once<Pct>(program, pct_job(1, 10'000, 1)).preemptions, 0u);
}

}  // namespace
}  // namespace clew::rt::simulation
