#include "runtime/strategy/choices.h"

#include <gtest/gtest.h>

#include "runtime/strategy/random_walk.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

constexpr std::uint64_t kRuns = 20'000;

TEST(Choices, WakesUniformly) {
  std::map<std::string, std::uint64_t> counts;
  RandomWalk strategy(make_job(3));
  for (std::uint64_t i = 0; i < kRuns; ++i)
    ++counts[std::to_string(strategy.choose({.kind = abi::ChoiceKind::kWake, .count = 3}).value)];
  EXPECT_LT(deviation(counts, uniform({"0", "1", "2"})), 4);
}

TEST(Choices, WhatProgramsRetryHappensSeldomAndAtMostEightTimes) {
  const abi::ChoiceKind kinds[] = {abi::ChoiceKind::kSpurious, abi::ChoiceKind::kTrylock,
                                   abi::ChoiceKind::kCas};
  std::map<std::string, std::uint64_t> first;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    RandomWalk strategy(make_job(seed));
    ++first[strategy.choose({.kind = kinds[seed % 3], .count = 2}).value == 1 ? "yes" : "no"];
  }
  EXPECT_LT(deviation(first, {{"yes", 1 / 16.}, {"no", 15 / 16.}}), 4);

  RandomWalk strategy(make_job(1));
  std::uint32_t happened = 0;
  for (int i = 0; i < 10'000; ++i)
    happened += strategy.choose({.kind = kinds[i % 3], .count = 2}).value;
  EXPECT_EQ(happened, ChoicePolicy::kMost);
}

// What one sleep needs, and what two in the same run need: not the square of it.
TEST(Choices, TimeoutsHappenOftenInSomeRuns) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    RandomWalk strategy(make_job(seed));
    std::string answers;
    for (int i = 0; i < 2; ++i)
      answers += strategy.choose({.kind = abi::ChoiceKind::kTimeout, .count = 2}).value ? "1" : "0";
    ++counts[answers];
  }
  const auto mean = [](auto of_rate) {
    return (of_rate(1.) + of_rate(1 / 2.) + of_rate(1 / 4.) + of_rate(1 / 16.)) / 4;
  };
  const double both = mean([](double p) { return p * p; });
  const double one = mean([](double p) { return p * (1 - p); });
  EXPECT_LT(deviation(counts, {{"11", both}, {"10", one}, {"01", one}, {"00", 1 - both - 2 * one}}),
            4);

  RandomWalk strategy(make_job(1));
  std::uint32_t happened = 0;
  for (int i = 0; i < 10'000; ++i)
    happened += strategy.choose({.kind = abi::ChoiceKind::kTimeout, .count = 2}).value;
  EXPECT_EQ(happened, ChoicePolicy::kMost);
}

TEST(Choices, DoNotDisturbTheSchedule) {
  const Candidate list[] = {{1, 0, {}}, {2, 1, {}}, {3, 2, {}}};
  RandomWalk quiet(make_job(5));
  RandomWalk busy(make_job(5));
  for (int i = 0; i < 200; ++i) {
    (void)busy.choose({.kind = abi::ChoiceKind::kWake, .count = 4});
    EXPECT_EQ(quiet.pick({list, 3, false}), busy.pick({list, 3, false}));
  }
}

TEST(Choices, DefaultsUnlessTheParameterSeedsThem) {
  abi::Job job = make_job(1);
  ChoicePolicy defaults = ChoicePolicy::of_parameter(job);
  job.parameters[abi::kChoiceSeed] = 17;
  ChoicePolicy seeded = ChoicePolicy::of_parameter(job);
  std::uint32_t others = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(defaults.answer({.kind = abi::ChoiceKind::kWake, .count = 5}).value, 0u);
    others += seeded.answer({.kind = abi::ChoiceKind::kWake, .count = 5}).value != 0;
  }
  EXPECT_GT(others, 50u);
}

TEST(Table, KeepsItsItemsWhenItGrows) {
  forget_arena();
  Table<std::uint64_t> table;
  for (std::uint32_t i = 0; i < 5000; ++i) table.at(i * 7) = i + 1;
  for (std::uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(table.at(i * 7), i + 1);
  EXPECT_EQ(table.at(1), 0u);
}

TEST(Map, FindsWhatWasPut) {
  forget_arena();
  Map<std::uint64_t> map;
  EXPECT_EQ(map.find(5), nullptr);
  for (std::uint64_t i = 1; i <= 5000; ++i) map.put(i * 64, i);
  for (std::uint64_t i = 1; i <= 5000; i += 2) map.put(i * 64, i + 1'000'000);
  EXPECT_EQ(map.size(), 5000u);
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    ASSERT_NE(map.find(i * 64), nullptr);
    ASSERT_EQ(*map.find(i * 64), i % 2 == 1 ? i + 1'000'000 : i);
    ASSERT_EQ(map.find(i * 64 + 1), nullptr);
  }
  map.put(0, 1);
  EXPECT_EQ(map.find(0), nullptr);
}

}  // namespace
}  // namespace clew::rt::simulation
