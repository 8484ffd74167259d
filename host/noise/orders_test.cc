#include "host/noise/orders.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

using abi::StepKind;
using Outcome = OrderCounter::Outcome;

std::vector<NoisePoint> points(std::uint32_t count) {
  std::vector<NoisePoint> result(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    result[i].place = 10 + i;
    result[i].at = {"a.cpp", i + 1, "f"};
  }
  return result;
}

TraceStep step(abi::ThreadKey thread, std::uint32_t point, StepKind kind, std::uint64_t object,
               std::uint32_t size = 4) {
  TraceStep result;
  result.thread = thread;
  result.place = 10 + point;
  result.kind = kind;
  result.object = object;
  result.size = size;
  return result;
}

Trace trace_of(std::vector<TraceStep> steps) {
  Trace trace;
  trace.steps = std::move(steps);
  return trace;
}

TEST(Orders, ACheckThatAnotherThreadComesAfter) {
  const auto all = points(3);
  OrderCounter counter(all);
  for (int i = 0; i < 20; ++i) {
    // Thread 1 checks and uses, thread 2 clears: in between, or after that.
    counter.learn(trace_of({step(1, 0, StepKind::kRead, 100), step(2, 2, StepKind::kWrite, 100),
                            step(1, 1, StepKind::kRead, 100)}),
                  Outcome::kFails);
    counter.learn(trace_of({step(1, 0, StepKind::kRead, 100), step(1, 1, StepKind::kRead, 100),
                            step(2, 2, StepKind::kWrite, 100)}),
                  Outcome::kPasses);
  }
  const OrderEvidence seen = counter.telling();
  EXPECT_EQ(seen.failing, 20u);
  EXPECT_EQ(seen.passing, 20u);
  ASSERT_EQ(seen.orders.size(), 2u);
  // Of two that tell as much the earlier one is first.
  EXPECT_EQ(seen.orders[0].first, 0u);
  EXPECT_EQ(seen.orders[0].then, 2u);
  EXPECT_EQ(seen.orders[0].failing, 20u);
  EXPECT_EQ(seen.orders[0].passing, 0u);
  EXPECT_EQ(seen.orders[1].first, 2u);
  EXPECT_EQ(seen.orders[1].then, 1u);
}

TEST(Orders, WhatIsSeenAsOftenInPassingRunsTellsNothing) {
  const auto all = points(2);
  OrderCounter counter(all);
  for (int i = 0; i < 50; ++i)
    counter.learn(trace_of({step(1, 0, StepKind::kWrite, 100), step(2, 1, StepKind::kRead, 100)}),
                  i % 2 == 0 ? Outcome::kFails : Outcome::kPasses);
  EXPECT_TRUE(counter.telling().orders.empty());
}

TEST(Orders, NeighboursInMemoryAreNotTheSame) {
  const auto all = points(2);
  OrderCounter counter(all);
  for (int i = 0; i < 20; ++i) {
    counter.learn(
        trace_of({step(1, 0, StepKind::kWrite, 100, 1), step(2, 1, StepKind::kRead, 101, 1)}),
        Outcome::kFails);
    counter.learn(trace_of({step(1, 0, StepKind::kWrite, 100, 1)}), Outcome::kPasses);
  }
  EXPECT_TRUE(counter.telling().orders.empty());
}

TEST(Orders, TwoReadsAndTheStepsOfOneThreadAreNoOrder) {
  const auto all = points(3);
  OrderCounter counter(all);
  for (int i = 0; i < 20; ++i) {
    counter.learn(trace_of({step(1, 0, StepKind::kRead, 100), step(2, 1, StepKind::kRead, 100),
                            step(2, 2, StepKind::kWrite, 200), step(2, 1, StepKind::kRead, 200)}),
                  Outcome::kFails);
    counter.learn(trace_of({step(1, 0, StepKind::kRead, 300)}), Outcome::kPasses);
  }
  EXPECT_TRUE(counter.telling().orders.empty());
}

TEST(Orders, WhereThreadsOfADeadlockStand) {
  const auto all = points(4);
  OrderCounter counter(all);
  const Trace deadlock =
      trace_of({step(1, 0, StepKind::kLock, 100), step(2, 1, StepKind::kLock, 200),
                step(1, 2, StepKind::kLock, 200), step(2, 3, StepKind::kLock, 100)});
  for (int i = 0; i < 3; ++i) {
    counter.learn(deadlock, Outcome::kFails);
    counter.learn_stuck(deadlock);
  }
  const OrderEvidence seen = counter.telling();
  ASSERT_EQ(seen.stuck.size(), 2u);
  EXPECT_EQ(seen.stuck[0], (StuckAt{2, 1u, 3}));
  EXPECT_EQ(seen.stuck[1], (StuckAt{3, 0u, 3}));
}

}  // namespace
}  // namespace clew
