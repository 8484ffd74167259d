#include "runtime/sched/coasting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace clew::rt {
namespace {

// A run in which every event is a scheduling point.
std::vector<Clock> asked_in(std::optional<std::uint64_t> seed, Clock events) {
  Coasting coasting;
  if (seed) coasting.allow(*seed, Coasting::kDecidedInFull);
  std::vector<Clock> asked;
  for (Clock event = 1; event <= events; ++event) {
    if (coasting.on() && event >= coasting.until()) coasting.stop();
    if (coasting.on()) continue;
    asked.push_back(event);
    (void)coasting.asked(event);
  }
  return asked;
}

TEST(Coasting, WithoutLeaveTheStrategyIsAskedEverywhere) {
  EXPECT_EQ(asked_in(std::nullopt, 100'000).size(), 100'000u);
}

TEST(Coasting, ShortRunsAreAskedEverywhere) {
  EXPECT_EQ(asked_in(1, Coasting::kDecidedInFull).size(), Coasting::kDecidedInFull);
}

TEST(Coasting, OfLongRunsASmallPartIsAskedAndAllPartsAre) {
  constexpr Clock kEvents = 10'000'000;
  const std::vector<Clock> asked = asked_in(7, kEvents);
  const double rest = static_cast<double>(asked.size() - Coasting::kDecidedInFull);
  const double expected = static_cast<double>(kEvents) / (Coasting::kPassed + 1);
  EXPECT_GT(rest, expected / 3);
  EXPECT_LT(rest, expected * 3);
  Clock longest = 0;
  for (std::size_t i = 1; i < asked.size(); ++i)
    longest = std::max(longest, asked[i] - asked[i - 1]);
  EXPECT_LE(longest, 2 * Coasting::kPassed * 512 + 1);
}

TEST(Coasting, FollowsFromTheSeed) {
  const std::vector<Clock> one = asked_in(3, 1'000'000);
  EXPECT_EQ(one, asked_in(3, 1'000'000));
  EXPECT_NE(one, asked_in(4, 1'000'000));
}

}  // namespace
}  // namespace clew::rt
