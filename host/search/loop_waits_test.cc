#include "host/search/loop_waits.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

abi::JobResult result_with(std::uint8_t loops) {
  abi::JobResult result{};
  result.loops = loops;
  return result;
}

// Of 64 further runs.
int brief(LoopWaits waits) {
  int count = 0;
  for (int i = 0; i < 64; ++i) {
    JobPlan plan;
    waits.adapt(plan);
    count += (plan.flags & abi::kJobBriefWaits) != 0;
  }
  return count;
}

TEST(LoopWaits, TimeIsGivenUntilItWasInVainOften) {
  LoopWaits waits;
  for (std::uint64_t i = 0; i < 100; ++i) waits.learn(result_with(0));
  EXPECT_EQ(brief(waits), 0);
  for (std::uint64_t i = 0; i < LoopWaits::kEnoughInVain; ++i) {
    EXPECT_EQ(brief(waits), 0);
    waits.learn(result_with(abi::kLoopNotLeft));
  }
  EXPECT_EQ(brief(waits), 56);
}

TEST(LoopWaits, TimeIsGivenWhereLoopsAreLeft) {
  LoopWaits waits;
  for (int i = 0; i < 40; ++i) waits.learn(result_with(abi::kLoopNotLeft));
  EXPECT_EQ(brief(waits), 56);
  for (int i = 0; i < 5; ++i) waits.learn(result_with(abi::kLoopLeftByItself));
  EXPECT_EQ(brief(waits), 0);
}

}  // namespace
}  // namespace clew
