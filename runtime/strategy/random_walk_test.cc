#include "runtime/strategy/random_walk.h"

#include <gtest/gtest.h>

#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

constexpr std::uint64_t kRuns = 20'000;

TEST(RandomWalk, TwoThreadsOfTwoSteps) {
  const Program program{private_steps(0, 2), private_steps(1, 2)};
  // A choice is a half as long as both can run.
  const std::map<std::string, double> expected{{"aabb", 1 / 4.}, {"abab", 1 / 8.},
                                               {"abba", 1 / 8.}, {"baab", 1 / 8.},
                                               {"baba", 1 / 8.}, {"bbaa", 1 / 4.}};
  EXPECT_LT(deviation(sample<RandomWalk>(program, make_job(0), kRuns), expected), 4);
}

TEST(RandomWalk, ThreeThreadsOfOneStep) {
  const Program program{private_steps(0, 1), private_steps(1, 1), private_steps(2, 1)};
  EXPECT_LT(deviation(sample<RandomWalk>(program, make_job(0), kRuns),
                      uniform({"abc", "acb", "bac", "bca", "cab", "cba"})),
            4);
}

// The first choice is between a thread before an update (weight 1 of 4) and one before a write.
TEST(RandomWalk, HesitatesBeforeUpdates) {
  SimulatedStep update = write(0x10, 1);
  update.step.kind = abi::StepKind::kUpdate;
  const Program program{{{update}}, {{write(0x20, 2)}}};
  abi::Job job = make_job(0);
  job.parameters[abi::kRandomUpdateWeight] = 25;
  EXPECT_LT(deviation(sample<RandomWalk>(program, job, kRuns), {{"ab", 1 / 5.}, {"ba", 4 / 5.}}),
            4);
}

TEST(RandomWalk, SameSeedSameRun) {
  const Program program{private_steps(0, 30), private_steps(1, 30), private_steps(2, 30)};
  const std::string order = run_once<RandomWalk>(program, make_job(7)).order;
  EXPECT_EQ(run_once<RandomWalk>(program, make_job(7)).order, order);
  EXPECT_NE(run_once<RandomWalk>(program, make_job(8)).order, order);
}

}  // namespace
}  // namespace clew::rt::simulation
