#include "runtime/strategy/round_robin.h"

#include <gtest/gtest.h>

#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

std::string order(const Program& program, std::uint64_t quantum) {
  abi::Job job = make_job(1);
  job.parameters[abi::kRoundRobinQuantum] = quantum;
  return run_once<RoundRobin>(program, job).order;
}

TEST(RoundRobin, OneStepEach) {
  const Program program{private_steps(0, 3), private_steps(1, 3), private_steps(2, 3)};
  EXPECT_EQ(order(program, 1), "abcabcabc");
  EXPECT_EQ(order(program, 0), "abcabcabc");
}

TEST(RoundRobin, AQuantumOfSteps) {
  EXPECT_EQ(order({private_steps(0, 4), private_steps(1, 4)}, 2), "aabbaabb");
}

TEST(RoundRobin, CyclicLocksShowAtOnce) {
  const Program program{{{lock(0x10), lock(0x20), unlock(0x20), unlock(0x10)}},
                        {{lock(0x20), lock(0x10), unlock(0x10), unlock(0x20)}}};
  EXPECT_TRUE(run_once<RoundRobin>(program, make_job(1)).deadlock);
}

// The creator waits in a loop for the thread that it has created.
TEST(RoundRobin, ANewThreadDoesNotWaitForEver) {
  const Program program{{{create(1), spin_until_written(0x40, 1)}},
                        {.steps = {{}, write(0x40, 2)}, .from_start = false}};
  forget_arena();
  RoundRobin strategy(1);
  EXPECT_FALSE(Simulation(program, strategy, 10'000).run().too_long);
}

}  // namespace
}  // namespace clew::rt::simulation
