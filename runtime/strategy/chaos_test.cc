#include "runtime/strategy/chaos.h"

#include <gtest/gtest.h>

#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

constexpr std::uint64_t kRuns = 20'000;
const Candidate kThree[] = {{1, 0, {}}, {2, 1, {}}, {3, 2, {}}};

TEST(Chaos, PicksAmongThoseOfHighPriority) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    forget_arena();
    Chaos chaos(make_job(seed));
    chaos.preempt(1);
    ++counts[std::to_string(chaos.pick({kThree, 3, false}))];
  }
  // The main thread is high in 7/10, and then one of 1, 2 or 3 that are; or all three are low.
  const double main = 0.7 * (0.01 + 0.18 / 2 + 0.81 / 3) + 0.3 * 0.01 / 3;
  EXPECT_LT(deviation(counts, {{"0", main}, {"1", (1 - main) / 2}, {"2", (1 - main) / 2}}), 4);
}

TEST(Chaos, StarvesThreadsOfLowPriority) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= kRuns / 10; ++seed) {
    forget_arena();
    Chaos chaos(make_job(seed));
    chaos.preempt(1);
    bool picked = false;
    for (int i = 0; i < 50; ++i) picked |= chaos.pick({kThree, 3, false}) == 1;
    ++counts[picked ? "picked" : "starved"];
  }
  const double starved = 0.1 * (1 - 0.3 * 0.1);
  EXPECT_LT(deviation(counts, {{"starved", starved}, {"picked", 1 - starved}}), 4);
}

TEST(Chaos, SlicesAreVeryShortShortAndLong) {
  Chaos chaos(make_job(1));
  constexpr Clock kNow = 1 << 20;
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    chaos.learn({Occurrence::Kind::kSwitched, {}, 0, kNow});
    const Clock slice = chaos.next_decision(kNow) - kNow;
    ++counts[slice <= Chaos::kVeryShortSlice ? "very short"
             : slice <= Chaos::kShortSlice   ? "short"
                                             : "long"];
  }
  const double very_short = 0.1 + 0.1 * 100 / 10'000 + 0.8 * 100 / 131'072;
  const double not_long = 0.2 + 0.8 * 10'000 / 131'072;
  EXPECT_LT(deviation(counts, {{"very short", very_short},
                               {"short", not_long - very_short},
                               {"long", 1 - not_long}}),
            4);
}

TEST(Chaos, SomeOfTheTimeNoSliceEnds) {
  std::uint64_t total = 0;
  std::uint64_t starving = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    forget_arena();
    Chaos chaos(make_job(seed));
    Clock now = 0;
    while (now < 4'000'000) {
      const Clock event = chaos.next_decision(now);
      const bool stays = chaos.preempt(event).kind == Decision::Kind::kStay;
      int asked = 0;
      while (!stays && chaos.preempt(event).kind != Decision::Kind::kStay) ASSERT_LT(++asked, 4);
      if (!stays) chaos.learn({Occurrence::Kind::kSwitched, {}, 0, event});
      now = event;
      if (stays) starving += chaos.next_decision(now) - now;
    }
    total += now;
  }
  // A slice's end falls into intervals that make up a fifth of the time, halfway on average.
  const double share = static_cast<double>(starving) / static_cast<double>(total);
  EXPECT_GT(share, 0.02);
  EXPECT_LT(share, 0.2);
}

TEST(Chaos, PreemptsAndEveryThreadRuns) {
  const Program program{private_steps(0, 2000), private_steps(1, 2000), private_steps(2, 2000)};
  std::uint32_t preempted = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Outcome run = run_once<Chaos>(program, make_job(seed));
    EXPECT_EQ(run.order.size(), 6000u);
    preempted += run.preemptions > 0;
  }
  EXPECT_GT(preempted, 90u);
}

TEST(Chaos, ThreadsThatWaitInLoopsGetOn) {
  const Program program{{{spin_until_written(0x40, 1)}}, {{write(0x40, 3)}}};
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    EXPECT_FALSE(run_once<Chaos>(program, make_job(seed), 2'000'000).too_long) << seed;
}

TEST(Chaos, SameSeedSameRun) {
  const Program program{private_steps(0, 2000), private_steps(1, 2000)};
  const std::string order = run_once<Chaos>(program, make_job(7)).order;
  EXPECT_EQ(run_once<Chaos>(program, make_job(7)).order, order);
  EXPECT_NE(run_once<Chaos>(program, make_job(8)).order, order);
}

}  // namespace
}  // namespace clew::rt::simulation
