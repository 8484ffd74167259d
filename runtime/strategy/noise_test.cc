#include "runtime/strategy/noise.h"

#include <gtest/gtest.h>

#include <set>

#include "host/search/guides.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

std::string run_with(const Program& program, const std::vector<abi::Place>& places,
                     std::uint64_t seed) {
  const auto guide = noise_guide(places);
  const Outcome run = run_once<Noise>(program, make_job(seed, &guide));
  return run.order + (run.deadlock ? " deadlock" : "");
}

// Places 100, 101, ... for a, 200, 201, ... for b.
const Program& two() {
  static const Program program{private_steps(0, 4), private_steps(1, 4)};
  return program;
}

TEST(Noise, WithoutChosenPointsNothingIsPreempted) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed)
    EXPECT_EQ(run_with(two(), {}, seed), "aaaabbbb") << seed;
  EXPECT_EQ(run_with(two(), {999}, 1), "aaaabbbb");
}

TEST(Noise, IsMadeBeforeAndAfterTheChosenPointAlone) {
  std::map<std::string, int> orders;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) ++orders[run_with(two(), {102}, seed)];
  ASSERT_EQ(orders.size(), 3u);
  EXPECT_NEAR(orders["aabbbbaa"], 475, 60);  // before the third step
  EXPECT_NEAR(orders["aaabbbba"], 475, 60);  // after it
  EXPECT_NEAR(orders["aaaabbbb"], 50, 25);
}

TEST(Noise, ComesAlwaysOnTheSameSideIfItIsToBeKnown) {
  const auto guide = noise_guide(std::vector<abi::Place>{102});
  int after = 0;
  for (std::uint64_t sides = 1; sides <= 200; ++sides) {
    const bool comes_after = abi::noise_comes_after(sides, 102);
    after += comes_after;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      abi::Job job = make_job(sides * 1000 + seed, &guide);
      job.parameters[abi::kNoiseSides] = sides;
      const std::string order = run_once<Noise>(two(), job).order;
      EXPECT_NE(order, comes_after ? "aabbbbaa" : "aaabbbba") << sides << " " << seed;
    }
  }
  EXPECT_NEAR(after, 100, 30);
}

// One that begins, or is woken, comes to its next step while another one runs.
TEST(Noise, IsMadeBeforeAStepThatAThreadComesToWhileAnotherOneRuns) {
  const Program three{private_steps(0, 2), private_steps(1, 2), private_steps(2, 2)};
  std::map<std::string, int> orders;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) ++orders[run_with(three, {200}, seed)];
  ASSERT_EQ(orders.size(), 3u);
  EXPECT_NEAR(orders["aaccbb"], 475, 60);  // before b's first step
  EXPECT_NEAR(orders["aabccb"], 475, 60);  // after it
  EXPECT_NEAR(orders["aabbcc"], 50, 25);
}

TEST(Noise, IsTheSameForTheSameSeed) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string order = run_with(two(), {101, 102, 201, 203}, seed);
    EXPECT_EQ(order, run_with(two(), {101, 102, 201, 203}, seed));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 8u);
}

TEST(Noise, EverywhereWithoutGuide) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Outcome run = run_once<Noise>(two(), make_job(seed, nullptr));
    EXPECT_EQ(run.order.size(), 8u);
    orders.insert(run.order);
  }
  EXPECT_GT(orders.size(), 20u);
}

TEST(Noise, WhoHoldsALockIsDelayedTooAndNobodyIsStuck) {
  const Program locked{{{lock(0x80, 1), write(0x40, 2), unlock(0x80, 3), write(0x44, 4)}},
                       {{lock(0x80, 5), write(0x40, 6), unlock(0x80, 7), write(0x44, 8)}}};
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const std::string order = run_with(locked, {1, 2, 3, 5, 6, 7}, seed);
    EXPECT_EQ(order.size(), 8u) << order;
  }
}

}  // namespace
}  // namespace clew::rt::simulation
