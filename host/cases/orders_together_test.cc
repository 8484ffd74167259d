#include "host/cases/orders_together.h"

#include <gtest/gtest.h>

#include <vector>

namespace clew {
namespace {

constexpr std::uint64_t kMutex = 0x10;
constexpr std::uint64_t kTotal = 0x20;
constexpr std::uint64_t kDone = 0x28;
constexpr abi::ThreadKey kReader = 1;
constexpr abi::ThreadKey kWriter = 2;

// A reader of `total` and of `done`; a writer that adds to `total` and later to `done`, under a lock
// each time. The events are the two reads and the two writes, in this order.
enum class Reader : std::uint8_t { kLocksOnce, kLocksTwice, kLocksNothing };
struct Example {
  LabRun run;
  Match match;

  void step(abi::ThreadKey thread, abi::StepKind kind, std::uint64_t object) {
    TraceStep step;
    step.thread = thread;
    step.index = static_cast<std::uint16_t>(thread);
    step.kind = kind;
    step.object = object;
    step.size = 8;
    step.clock = run.steps.size() + 1;
    run.steps.push_back(step);
  }
  void event(abi::ThreadKey thread, abi::StepKind kind, std::uint64_t object) {
    match.emplace_back(run.steps.size());
    step(thread, kind, object);
  }
};

Example example(Reader reader) {
  using enum abi::StepKind;
  Example made;
  if (reader != Reader::kLocksNothing) made.step(kReader, kLock, kMutex);
  made.event(kReader, kRead, kTotal);
  if (reader == Reader::kLocksTwice) {
    made.step(kReader, kUnlock, kMutex);
    made.step(kReader, kLock, kMutex);
  }
  made.event(kReader, kRead, kDone);
  if (reader != Reader::kLocksNothing) made.step(kReader, kUnlock, kMutex);
  for (const std::uint64_t object : {kTotal, kDone}) {
    made.step(kWriter, kLock, kMutex);
    made.event(kWriter, kWrite, object);
    made.step(kWriter, kUnlock, kMutex);
  }
  return made;
}

CaseOrder before(std::size_t first, std::size_t second) {
  return {CaseOrder::Kind::kBefore, {first, second}, true};
}
const CaseOrder kOldTotal = before(0, 2);
const CaseOrder kNewDone = before(3, 1);

bool excluded(Reader reader, const std::vector<CaseOrder>& orders) {
  const Example made = example(reader);
  Case one;
  one.events.resize(4);
  one.orders = orders;
  const MustOrder order(made.run.steps);
  return exclude_each_other(one, made.match, made.run, locks_held(made.run), order).has_value();
}

TEST(OrdersTogether, AreRuledOutByOneSectionAroundBothReads) {
  EXPECT_TRUE(excluded(Reader::kLocksOnce, {kOldTotal, kNewDone}));
}

TEST(OrdersTogether, ArePossibleBetweenTwoSectionsAndWithoutALock) {
  EXPECT_FALSE(excluded(Reader::kLocksTwice, {kOldTotal, kNewDone}));
  EXPECT_FALSE(excluded(Reader::kLocksNothing, {kOldTotal, kNewDone}));
}

TEST(OrdersTogether, EachAloneIsPossible) {
  EXPECT_FALSE(excluded(Reader::kLocksOnce, {kOldTotal}));
  EXPECT_FALSE(excluded(Reader::kLocksOnce, {kNewDone}));
}

TEST(OrdersTogether, OtherFieldsInTheOtherOrderArePossible) {
  EXPECT_FALSE(excluded(Reader::kLocksOnce, {before(2, 0), before(3, 1)}));
  EXPECT_FALSE(excluded(Reader::kLocksOnce, {before(0, 2), before(1, 3)}));
}

TEST(OrdersTogether, WhatAnUpdateSeesBetweenTwoReadsUnderTheLockIsRuledOut) {
  EXPECT_TRUE(excluded(Reader::kLocksOnce, {{CaseOrder::Kind::kBetween, {0, 2, 1}, false}}));
  EXPECT_FALSE(excluded(Reader::kLocksTwice, {{CaseOrder::Kind::kBetween, {0, 2, 1}, false}}));
}

}  // namespace
}  // namespace clew
