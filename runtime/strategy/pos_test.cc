#include "runtime/strategy/pos.h"

#include <gtest/gtest.h>

#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

constexpr std::uint64_t kRuns = 20'000;

// b keeps the priority that lost against a's first step: three draws in a random order.
TEST(Pos, IndependentStepsKeepTheirPriority) {
  const Program program{private_steps(0, 2), private_steps(1, 1)};
  const std::map<std::string, double> expected{{"baa", 1 / 2.}, {"aba", 1 / 6.}, {"aab", 1 / 3.}};
  EXPECT_LT(deviation(sample<Pos>(program, make_job(0), kRuns), expected), 4);
}

// The square of one uniform draw is above another in one of three cases.
TEST(Pos, MayHesitateBeforeUpdates) {
  const Program program{{{{{0x40, 1, 4, abi::StepKind::kUpdate}}}}, private_steps(1, 1)};
  abi::Job job = make_job(0);
  EXPECT_LT(deviation(sample<Pos>(program, job, kRuns), {{"ab", 1 / 2.}, {"ba", 1 / 2.}}), 4);
  job.parameters[abi::kRandomUpdateWeight] = 25;
  EXPECT_LT(deviation(sample<Pos>(program, job, kRuns), {{"ab", 1 / 8.}, {"ba", 7 / 8.}}), 4);
}

TEST(Pos, ThreadsThatGatherStartWhenTheirCreatorWaits) {
  const Program program{{{create(1), write(0x10, 1), write(0x20, 2), spin_until_written(0x40, 3)}},
                        {.steps = {{}, write(0x40, 4)}, .from_start = false}};
  abi::Job job = make_job(0);
  job.parameters[abi::kRandomUpdateWeight] = 25;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    forget_arena();
    job.seed = seed;
    Pos pos(job);
    const Outcome outcome = Simulation(program, pos, 10'000).run();
    EXPECT_FALSE(outcome.too_long);
    EXPECT_GT(outcome.order.find('b'), 3u);
  }
}

TEST(Pos, TheSameStepAgainIsANewOne) {
  const Program program{{{read(0x40, 1), read(0x40, 1)}}, private_steps(1, 1)};
  const std::map<std::string, double> expected{{"baa", 1 / 2.}, {"aba", 1 / 6.}, {"aab", 1 / 3.}};
  EXPECT_LT(deviation(sample<Pos>(program, make_job(0), kRuns), expected), 4);
}

TEST(Pos, ConflictingStepsGetAFreshOne) {
  const Program program{{{write(0x40, 1), write(0x40, 2)}}, {{write(0x40, 3)}}};
  const std::map<std::string, double> expected{{"baa", 1 / 2.}, {"aba", 1 / 4.}, {"aab", 1 / 4.}};
  EXPECT_LT(deviation(sample<Pos>(program, make_job(0), kRuns), expected), 4);
}

TEST(Pos, ReadsDoNotConflict) {
  const Program program{{{read(0x40, 1), read(0x40, 2)}}, {{read(0x40, 3)}}};
  const std::map<std::string, double> expected{{"baa", 1 / 2.}, {"aba", 1 / 6.}, {"aab", 1 / 3.}};
  EXPECT_LT(deviation(sample<Pos>(program, make_job(0), kRuns), expected), 4);
}

TEST(Pos, OverlapIsConflict) {
  const Program program{{{write(0x40, 1), write(0x60, 2)}}, {{write(0x42, 3)}}};
  const std::map<std::string, double> expected{{"baa", 1 / 2.}, {"aba", 1 / 4.}, {"aab", 1 / 4.}};
  EXPECT_LT(deviation(sample<Pos>(program, make_job(0), kRuns), expected), 4);
}

// The paper's point: n threads race for x, each after steps of its own that race with nothing. A
// random walk seldom lets a thread with many such steps come first; POS does in one of n runs or
// so, since it is the order of the last draws that counts.
TEST(Pos, PrivateStepsMatterLessThanInARandomWalk) {
  SimulatedThread slow = private_steps(0, 6);
  slow.steps.push_back(write(0x40, 1));
  const Program program{slow, {{write(0x40, 2)}}};
  const auto counts = sample<Pos>(program, make_job(0), kRuns);
  const auto slow_first = counts.find("aaaaaaab");
  ASSERT_NE(slow_first, counts.end());
  // b's one draw is below all seven of a's: 1/8; a random walk: 1/128.
  EXPECT_NEAR(static_cast<double>(slow_first->second) / kRuns, 1 / 8., 0.01);
}

// A thread that waits for a lock keeps its place until the lock's holder conflicts with it.
TEST(Pos, LocksAndDeadlocks) {
  const Program program{{{lock(0x80), lock(0x90), unlock(0x90), unlock(0x80)}},
                        {{lock(0x90), lock(0x80), unlock(0x80), unlock(0x90)}}};
  std::map<std::string, std::uint64_t> ends;
  abi::Job job = make_job(0);
  for (job.seed = 1; job.seed <= kRuns; ++job.seed)
    ++ends[run_once<Pos>(program, job).deadlock ? "deadlock" : "end"];
  // a first (1/2): then b's lock, which lost, against a fresh one: 1/3 that b's is higher.
  EXPECT_LT(deviation(ends, {{"deadlock", 1 / 3.}, {"end", 2 / 3.}}), 4);
}

TEST(Pos, APendingStepThatChangesIsANewOne) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    forget_arena();
    Pos pos(make_job(seed));
    Candidate list[] = {{1, 0, write(0x40, 1).step}, {2, 1, write(0x50, 2).step}};
    const std::uint32_t first = pos.pick({list, 2, false});
    list[1 - first].step = write(0x60, 3).step;
    ++counts[pos.pick({list, 2, false}) == first ? "same" : "other"];
  }
  // The loser draws again against the higher of two.
  EXPECT_LT(deviation(counts, {{"same", 2 / 3.}, {"other", 1 / 3.}}), 4);
}

TEST(Pos, ManyThreadsThatEnd) {
  Program program{private_steps(0, 1)};
  for (int i = 1; i < 200; ++i) {
    program.push_back(private_steps(i, 2));
    program.back().from_start = false;
    program[static_cast<std::size_t>(i - 1)].steps.push_back(create(i));
  }
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    EXPECT_EQ(run_once<Pos>(program, make_job(seed)).steps.size(), 1 + 199 * 2 + 199u);
}

}  // namespace
}  // namespace clew::rt::simulation
