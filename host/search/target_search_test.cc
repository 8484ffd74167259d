#include "host/search/target_search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "clew_abi/stream.h"

namespace clew {
namespace {

using abi::StepKind;

constexpr abi::ThreadKey kMain = abi::kMainThreadKey;

// Traces as a program would leave them.
class TraceOf {
 public:
  explicit TraceOf(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) add(kMain, 0, 1, 0x9000 + 8 * i, StepKind::kCreate);
  }
  TraceOf& step(unsigned thread, abi::Place place, std::uint64_t object, StepKind kind) {
    add(key(thread), thread, place, object, kind);
    return *this;
  }
  static abi::ThreadKey key(unsigned thread) { return abi::child_key(kMain, thread); }
  JobReport report() const {
    JobReport report;
    report.trace.steps = events_;
    return report;
  }

 private:
  void add(abi::ThreadKey key, unsigned index, abi::Place place, std::uint64_t object,
           StepKind kind) {
    TraceStep event{};
    event.thread = key;
    event.index = static_cast<std::uint16_t>(index);
    event.place = place;
    event.object = object;
    event.size = 4;
    event.kind = kind;
    event.clock = events_.size() + 1;
    events_.push_back(event);
  }
  std::vector<TraceStep> events_;
};

std::vector<PlanDirective> directives_of(const JobPlan& plan) {
  abi::Reader reader(plan.guide.data(), plan.guide.size());
  std::vector<PlanDirective> directives(reader.varint());
  for (PlanDirective& d : directives) {
    d.thread = reader.varint();
    d.stop = static_cast<PlanStop>(reader.varint());
    d.place = reader.varint();
    d.times = reader.varint();
    d.flags = static_cast<std::uint8_t>(reader.varint());
  }
  return directives;
}

// The first targets after one run with this trace.
std::vector<std::vector<PlanDirective>> first_targets(const TraceOf& trace, std::size_t count) {
  TargetSearch search(1);
  search.learn({}, trace.report());
  std::vector<std::vector<PlanDirective>> targets;
  for (const JobPlan& plan : search.next(count)) targets.push_back(directives_of(plan));
  return targets;
}

bool stops(const std::vector<PlanDirective>& target, unsigned thread, abi::Place before) {
  return target.front().thread == TraceOf::key(thread) && target.front().place == before &&
         (target.front().flags & kPlanHold) != 0;
}

TEST(TargetSearch, ProposesNothingBeforeItHasSeenARun) {
  TargetSearch search(1);
  EXPECT_TRUE(search.next(4).empty());
  EXPECT_FALSE(search.has_targets());
}

// Both add to a counter without a lock: one stops between its read and its write.
TEST(TargetSearch, MayBeginInLockstep) {
  TargetSearch search(1, TargetSearch::Opening::kLockstep);
  const std::vector<JobPlan> plans = search.next(5);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].strategy, abi::StrategyKind::kRoundRobin);
  EXPECT_TRUE(plans[0].flags & abi::kJobTrace);
  EXPECT_TRUE(search.next(5).empty());
}

TEST(TargetSearch, LostUpdate) {
  TraceOf trace(2);
  for (unsigned thread : {1u, 2u})
    trace.step(thread, 10, 0x100, StepKind::kRead).step(thread, 12, 0x100, StepKind::kWrite);
  const auto targets = first_targets(trace, 1);
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_TRUE(stops(targets[0], 1, 12));
  EXPECT_EQ(targets[0][1].thread, TraceOf::key(2));
}

// One writes a, then b; another reads both.
TEST(TargetSearch, TwoVariables) {
  TraceOf trace(2);
  trace.step(1, 10, 0x100, StepKind::kWrite).step(1, 12, 0x200, StepKind::kWrite);
  trace.step(2, 20, 0x100, StepKind::kRead).step(2, 22, 0x200, StepKind::kRead);
  bool found = false;
  for (const auto& target : first_targets(trace, 2)) found |= stops(target, 1, 12);
  EXPECT_TRUE(found);
}

TEST(TargetSearch, LocksInOppositeOrderComeFirst) {
  TraceOf trace(2);
  trace.step(1, 10, 0x100, StepKind::kLock).step(1, 12, 0x200, StepKind::kLock);
  trace.step(1, 14, 0x300, StepKind::kRead).step(1, 16, 0x300, StepKind::kWrite);
  trace.step(1, 18, 0x200, StepKind::kUnlock).step(1, 19, 0x100, StepKind::kUnlock);
  trace.step(2, 20, 0x200, StepKind::kLock).step(2, 22, 0x100, StepKind::kLock);
  trace.step(2, 24, 0x300, StepKind::kRead).step(2, 26, 0x300, StepKind::kWrite);
  trace.step(2, 28, 0x100, StepKind::kUnlock).step(2, 29, 0x200, StepKind::kUnlock);
  for (const auto& target : first_targets(trace, 2))
    EXPECT_TRUE(stops(target, 1, 12) || stops(target, 2, 22));
}

// Each of three threads takes its own lock and then the next one's: all stop in between.
TEST(TargetSearch, ACycleOfThreeLocks) {
  constexpr abi::Place kNested[] = {12, 22, 32};
  TraceOf trace(3);
  for (unsigned thread : {1u, 2u, 3u}) {
    const std::uint64_t own = 0x100 * thread;
    const std::uint64_t next = 0x100 * (thread % 3 + 1);
    trace.step(thread, 10 * thread, own, StepKind::kLock)
        .step(thread, 10 * thread + 2, next, StepKind::kLock)
        .step(thread, 10 * thread + 4, next, StepKind::kUnlock)
        .step(thread, 10 * thread + 6, own, StepKind::kUnlock);
  }
  const auto targets = first_targets(trace, 1);
  ASSERT_EQ(targets.size(), 1u);
  ASSERT_EQ(targets[0].size(), 3u);
  for (const PlanDirective& directive : targets[0]) {
    EXPECT_EQ(directive.stop, PlanStop::kBefore);
    EXPECT_NE(std::ranges::find(kNested, directive.place), std::end(kNested));
    EXPECT_TRUE(directive.flags & kPlanHold);
  }
}

// The same, but all of them hold a fourth lock meanwhile: no two of them can be there at once.
TEST(TargetSearch, NoCycleUnderACommonLock) {
  TraceOf trace(3);
  for (unsigned thread : {1u, 2u, 3u}) {
    const std::uint64_t own = 0x100 * thread;
    const std::uint64_t next = 0x100 * (thread % 3 + 1);
    trace.step(thread, 10 * thread - 1, 0x900, StepKind::kLock)
        .step(thread, 10 * thread, own, StepKind::kLock)
        .step(thread, 10 * thread + 2, next, StepKind::kLock)
        .step(thread, 10 * thread + 4, next, StepKind::kUnlock)
        .step(thread, 10 * thread + 6, own, StepKind::kUnlock)
        .step(thread, 10 * thread + 7, 0x900, StepKind::kUnlock);
  }
  for (const auto& target : first_targets(trace, 100))
    EXPECT_FALSE(target.size() == 3 &&
                 std::ranges::all_of(target, [](const PlanDirective& directive) {
                   return directive.place % 10 == 2;
                 }));
}

// What both do under the same lock cannot come between: no stop inside.
TEST(TargetSearch, NoStopWhereTheOtherWouldWait) {
  TraceOf trace(2);
  for (unsigned thread : {1u, 2u}) {
    trace.step(thread, 10, 0x100, StepKind::kLock).step(thread, 12, 0x200, StepKind::kRead);
    trace.step(thread, 14, 0x200, StepKind::kWrite).step(thread, 16, 0x100, StepKind::kUnlock);
  }
  for (const auto& target : first_targets(trace, 6))
    for (const PlanDirective& directive : target)
      EXPECT_TRUE(directive.place != 12 && directive.place != 14);
}

TEST(TargetSearch, AHundredAlikeThreadsAreNoMoreWorkThanThree) {
  const auto untried = [](unsigned threads) {
    TraceOf trace(threads);
    for (unsigned thread = 1; thread <= threads; ++thread)
      trace.step(thread, 10, 0x100, StepKind::kRead).step(thread, 12, 0x100, StepKind::kWrite);
    TargetSearch search(1);
    search.learn({}, trace.report());
    return search.untried();
  };
  EXPECT_EQ(untried(100), untried(3));
}

TEST(TargetSearch, EachTargetOnceThenTwoAtATime) {
  TraceOf trace(2);
  for (unsigned thread : {1u, 2u})
    trace.step(thread, 10, 0x100, StepKind::kRead).step(thread, 12, 0x100, StepKind::kWrite);
  TargetSearch search(1);
  search.learn({}, trace.report());
  const std::size_t count = search.untried();
  ASSERT_GT(count, 0u);
  const auto plans = search.next(count);
  EXPECT_EQ(search.untried(), 0u);
  search.learn({}, trace.report());
  EXPECT_EQ(search.untried(), 0u) << "the same trace has nothing new";
  EXPECT_EQ(search.next(3).size(), 3u);
}

}  // namespace
}  // namespace clew
