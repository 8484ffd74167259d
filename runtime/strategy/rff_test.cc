#include "runtime/strategy/rff.h"

#include <gtest/gtest.h>

#include "host/search/guides.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

constexpr std::uint64_t kRuns = 2000;
constexpr std::uintptr_t kX = 0x40;

// Where the value that the first read at `place` read was written; 0: nowhere.
abi::Place read_from(const Outcome& run, abi::Place place) {
  std::map<std::uintptr_t, abi::Place> last;
  for (const Step& step : run.steps) {
    if (step.kind == abi::StepKind::kRead && step.place == place) return last[step.object];
    if (step.kind == abi::StepKind::kWrite) last[step.object] = step.place;
  }
  ADD_FAILURE() << "no read";
  return 0;
}

SimulatedThread then(SimulatedThread thread, SimulatedStep step) {
  thread.steps.push_back(step);
  return thread;
}

// How many runs have the first read at `read` read from `write`.
std::uint64_t count(const Program& program, const std::vector<RffConstraint>& constraints,
                    abi::Place write, abi::Place read, const std::vector<abi::Place>& rivals = {}) {
  const auto guide = rff_guide(constraints, rivals);
  std::uint64_t result = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed)
    result += read_from(run_once<Rff>(program, make_job(seed, &guide)), read) == write;
  return result;
}

// Two writers and a reader, each after steps of its own.
Program race(int before_first, int before_second, int before_read) {
  return {then(private_steps(0, before_first), write(kX, 10)),
          then(private_steps(1, before_second), write(kX, 11)),
          then(private_steps(2, before_read), read(kX, 20))};
}

TEST(Rff, PositiveConstraintsAreMet) {
  for (const Program& program : {race(0, 0, 0), race(8, 0, 0), race(0, 8, 0), race(0, 0, 8)}) {
    for (const abi::Place write : {10u, 11u}) {
      EXPECT_LT(count(program, {}, write, 20), kRuns * 9 / 10);
      EXPECT_EQ(count(program, {{write, 20}}, write, 20), kRuns);
    }
  }
}

TEST(Rff, TheInitialValueCanBeAskedFor) {
  for (const Program& program : {race(0, 0, 0), race(8, 0, 0), race(0, 0, 8)}) {
    EXPECT_LT(count(program, {}, 0, 20), kRuns * 9 / 10);
    EXPECT_EQ(count(program, {{0, 20}}, 0, 20, {10, 11}), kRuns);
  }
}

TEST(Rff, TheInitialValueWithoutKnownRivals) {
  Program program = race(0, 0, 0);
  for (int i = 0; i < 8; ++i)
    program[2].steps.insert(program[2].steps.begin(), read(0x80, static_cast<abi::Place>(50 + i)));
  EXPECT_LT(count(program, {}, 0, 20), kRuns / 2);
  EXPECT_EQ(count(program, {{0, 20}}, 0, 20), kRuns);
}

TEST(Rff, AReadThatMeetsAConstraintGoesFirst) {
  EXPECT_EQ(count(race(0, 0, 0), {{0, 20}}, 0, 20, {99}), kRuns);
}

// The write at 11 is in no constraint, and yet after it the value is no longer that of 10.
TEST(Rff, WritesElsewhereCount) {
  Program program{{{write(kX, 10), write(kX, 11), create(1), write(kX, 10)}}, {{read(kX, 20)}}};
  program[1].from_start = false;
  const auto guide = rff_guide({{{10, 20}}}, {});
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    EXPECT_EQ(run_once<Rff>(program, make_job(seed, &guide)).order, "aaaab");
}

TEST(Rff, NegativeConstraintsAreKept) {
  const Program program{{{write(kX, 10), write(kX, 11)}}, then(private_steps(1, 1), read(kX, 20))};
  const RffConstraint not_first{10, 20, RffSign::kNegative};
  const RffConstraint not_initial{0, 20, RffSign::kNegative};
  EXPECT_GT(count(program, {}, 10, 20), 0u);
  EXPECT_EQ(count(program, {not_first}, 10, 20), 0u);
  EXPECT_GT(count(program, {not_first}, 0, 20), 0u);
  EXPECT_GT(count(program, {not_first}, 11, 20), 0u);
  EXPECT_EQ(count(program, {not_first, not_initial}, 11, 20), kRuns);
}

TEST(Rff, SeveralConstraintsAtOnce) {
  Program program = race(2, 2, 2);
  program.push_back(then(private_steps(3, 2), read(kX, 21)));
  const auto guide = rff_guide({{{10, 20}, {11, 21}}}, {});
  std::uint64_t both = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const Outcome run = run_once<Rff>(program, make_job(seed, &guide));
    both += read_from(run, 20) == 10 && read_from(run, 21) == 11;
  }
  EXPECT_EQ(both, kRuns);
}

// The write is at a place that is passed at many addresses; one of them is read.
TEST(Rff, ManyAddresses) {
  SimulatedThread writer;
  for (std::uintptr_t i = 0; i < 300; ++i) writer.steps.push_back(write(0x1000 + 16 * i, 10));
  for (std::uintptr_t i = 0; i < 300; ++i) writer.steps.push_back(write(0x1000 + 16 * i, 11));
  const Program program{writer, {{read(0x1000 + 16 * 250, 20)}}};
  const auto guide = rff_guide({{{10, 20}}}, {});
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(read_from(run_once<Rff>(program, make_job(seed, &guide)), 20), 10u);
}

TEST(Rff, WhatIsImpossibleIsGivenUp) {
  const Program program = race(3, 3, 3);
  for (const std::vector<RffConstraint>& constraints :
       {std::vector<RffConstraint>{{99, 20}},
        {{99, 20}, {0, 20}, {10, 20}, {11, 20}, {10, 99}},
        {{10, 20}, {10, 20, RffSign::kNegative}},
        {{0, 20, RffSign::kNegative},
         {10, 20, RffSign::kNegative},
         {11, 20, RffSign::kNegative}}}) {
    const auto guide = rff_guide(constraints, {});
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const Outcome run = run_once<Rff>(program, make_job(seed, &guide));
      EXPECT_EQ(run.order.size(), 12u);
      EXPECT_FALSE(run.deadlock);
    }
  }
}

// The read waits for a write that never comes, and the other thread for what follows the read.
TEST(Rff, WaitingEndsWhenOthersSpin) {
  const Program program{{{read(kX, 20), write(0x80, 12)}}, {{spin_until_written(0x80, 21)}}};
  const auto guide = rff_guide({{{99, 20}}}, {});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome run = run_once<Rff>(program, make_job(seed, &guide), 5000);
    EXPECT_FALSE(run.too_long);
    EXPECT_GE(run.order.size(), Rff::kPatience);
  }
}

TEST(Rff, WithoutAGuideItIsPos) {
  const Program program{private_steps(0, 2), private_steps(1, 1)};
  const std::map<std::string, double> pos{{"baa", 1 / 2.}, {"aba", 1 / 6.}, {"aab", 1 / 3.}};
  EXPECT_LT(deviation(sample<Rff>(program, make_job(0), 40'000), pos), 4);
}

TEST(Rff, BadGuidesAreNone) {
  const Program program = race(0, 0, 0);
  const auto good = rff_guide({{{10, 20}}}, {});
  std::vector<std::vector<std::uint8_t>> bad{good, good, good, good};
  bad[0].pop_back();
  bad[1].push_back(0);
  bad[2][3] = 2;
  bad[3].front() = 0x7f;
  for (const auto& guide : bad)
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
      EXPECT_EQ(run_once<Rff>(program, make_job(seed, &guide)).order,
                run_once<Rff>(program, make_job(seed)).order);
}

}  // namespace
}  // namespace clew::rt::simulation
