#include "host/isolate/pair.h"

#include <gtest/gtest.h>

#include <map>

#include "host/isolate/prefix_lane.h"
#include "host/isolate/source_view.h"

namespace clew {
namespace {

using abi::StepKind;

constexpr abi::ThreadKey kA = 11;
constexpr abi::ThreadKey kB = 22;

// A run, event by event.
class Course {
 public:
  Course& access(abi::ThreadKey thread, StepKind kind, std::uint64_t object,
                 std::uint32_t size = 4) {
    const std::uint64_t own = ++own_[thread];
    trace_.steps.push_back({.thread = thread,
                            .place = object * 100 + own,
                            .object = object,
                            .clock = ++clock_,
                            .own = own,
                            .size = size,
                            .kind = kind});
    return *this;
  }
  Course& preempt(abi::ThreadKey thread, abi::ThreadKey to) {
    trace_.decisions.push_back({.thread = thread,
                                .place = 1,
                                .to = to,
                                .clock = clock_ + 1,
                                .own = own_[thread] + 1,
                                .steps_before = trace_.steps.size()});
    return *this;
  }
  const Trace& trace() const { return trace_; }

 private:
  Trace trace_;
  std::map<abi::ThreadKey, std::uint64_t> own_;
  std::uint64_t clock_ = 0;
};

// A lost update: A reads, B reads and writes, A writes.
const Course kLost = Course()
                         .access(kA, StepKind::kRead, 8)
                         .preempt(kA, kB)
                         .access(kB, StepKind::kRead, 8)
                         .access(kB, StepKind::kWrite, 8)
                         .access(kA, StepKind::kWrite, 8);
const Course kKept = Course()
                         .access(kA, StepKind::kRead, 8)
                         .access(kA, StepKind::kWrite, 8)
                         .preempt(kA, kB)
                         .access(kB, StepKind::kRead, 8)
                         .access(kB, StepKind::kWrite, 8);

TEST(Pair, OfALostUpdate) {
  const auto pairs = flipped_pairs(kLost.trace(), kKept.trace(), 10);
  ASSERT_EQ(pairs.size(), 2);
  EXPECT_EQ(pairs[0].first.thread, kB);
  EXPECT_EQ(pairs[0].first.kind, StepKind::kRead);
  EXPECT_EQ(pairs[0].second.thread, kA);
  EXPECT_EQ(pairs[0].second.kind, StepKind::kWrite);
  EXPECT_EQ(pairs[1].first.kind, StepKind::kWrite);
}

TEST(Pair, ReadsDoNotConflict) {
  const Course one = Course().access(kA, StepKind::kRead, 8).access(kB, StepKind::kRead, 8);
  const Course other = Course().access(kB, StepKind::kRead, 8).access(kA, StepKind::kRead, 8);
  EXPECT_TRUE(flipped_pairs(one.trace(), other.trace(), 10).empty());
}

TEST(Pair, NeitherDoOtherObjects) {
  const Course one = Course().access(kA, StepKind::kWrite, 8).access(kB, StepKind::kWrite, 16);
  const Course other = Course().access(kB, StepKind::kWrite, 16).access(kA, StepKind::kWrite, 8);
  EXPECT_TRUE(flipped_pairs(one.trace(), other.trace(), 10).empty());
}

TEST(Pair, OverlappingAccessesDo) {
  const Course one = Course().access(kA, StepKind::kWrite, 6).access(kB, StepKind::kWrite, 9);
  const Course other = Course().access(kB, StepKind::kWrite, 9).access(kA, StepKind::kWrite, 6);
  EXPECT_EQ(flipped_pairs(one.trace(), other.trace(), 10).size(), 1);
}

TEST(Pair, AReleaseConflictsWithAnAccessToAnyByte) {
  const auto read = [](Course course) { return course.access(kA, StepKind::kRead, 90'000); };
  const auto free = [](Course course) { return course.access(kB, StepKind::kFree, 8, 100'000); };
  const Course used_late = read(free(Course()));
  const Course used_early = free(read(Course()));
  for (const bool late_fails : {false, true}) {
    const auto pairs = flipped_pairs((late_fails ? used_late : used_early).trace(),
                                     (late_fails ? used_early : used_late).trace(), 10);
    ASSERT_EQ(pairs.size(), 1);
    EXPECT_EQ(pairs[0].first.kind, late_fails ? StepKind::kFree : StepKind::kRead);
  }
}

// The failing run ends with an assertion of B: what A was about to do shows in the passing run.
TEST(Pair, WithWhatTheFailingRunDidNotComeTo) {
  const Course failing = Course().preempt(kA, kB).access(kB, StepKind::kRead, 8);
  const Course passing = Course().access(kA, StepKind::kWrite, 8).access(kB, StepKind::kRead, 8);
  const auto pairs = flipped_pairs(failing.trace(), passing.trace(), 10);
  ASSERT_EQ(pairs.size(), 1);
  EXPECT_EQ(pairs[0].first.thread, kB);
  EXPECT_EQ(pairs[0].second.thread, kA);
  EXPECT_EQ(pairs[0].second.clock, 0);
  EXPECT_EQ(pairs[0].second_when_passing, passing.trace().steps[0].clock);
  EXPECT_EQ(pairs[0].first_when_passing, passing.trace().steps[1].clock);
}

TEST(Pair, FlippingOnePutsTheSecondBeforeTheFirst) {
  const ThreadId a = *ThreadId::parse("T0.1");
  const ThreadId b = *ThreadId::parse("T0.2");
  const Schedule failing{{{{2}, b}, {{4}, a}}};
  const auto pairs = flipped_pairs(kLost.trace(), kKept.trace(), 10);
  // B stops before its read, clock 2; A writes; B reads at 3 and writes at 4.
  EXPECT_EQ(format_schedule(flipped(failing, kLost.trace(), pairs[0], b, a)),
            "2:T0.2, 2:T0.1, 3:T0.2, 5:T0.1");
  // B reads at 2 and stops before its write.
  EXPECT_EQ(format_schedule(flipped(failing, kLost.trace(), pairs[1], b, a)),
            "2:T0.2, 3:T0.1, 4:T0.2, 5:T0.1");
}

TEST(Pair, FlippingLetsTheOtherThreadComeToItsEvent) {
  const Course failing = Course()
                             .preempt(kA, kB)
                             .access(kB, StepKind::kRead, 8)
                             .access(kA, StepKind::kRead, 64)
                             .access(kA, StepKind::kRead, 72)
                             .access(kA, StepKind::kWrite, 8);
  const EventPair pair{failing.trace().steps[0], failing.trace().steps[3]};
  const Schedule flip =
      flipped({}, failing.trace(), pair, *ThreadId::parse("T0.2"), *ThreadId::parse("T0.1"));
  EXPECT_EQ(format_schedule(flip), "1:T0.1, 4:T0.2");
}

TEST(ThreadKeys, FollowThePathOfCreation) {
  EXPECT_EQ(key_of_thread("T0"), abi::kMainThreadKey);
  EXPECT_EQ(key_of_thread("T0.2"), abi::child_key(abi::kMainThreadKey, 2));
  EXPECT_EQ(key_of_thread("T0.2.11"), abi::child_key(abi::child_key(abi::kMainThreadKey, 2), 11));
}

TEST(CommonUntil, IsWhereSchedulesPart) {
  const Schedule base = *parse_schedule("5:T0.1, 9:T0.2, 12/pick:T0.3, 20:T0.1");
  EXPECT_EQ(common_until(base, base), ~std::uint64_t{0});
  EXPECT_EQ(common_until(base, *parse_schedule("5:T0.1, 10:T0.2, 12/pick:T0.3, 20:T0.1")), 9);
  EXPECT_EQ(common_until(base, *parse_schedule("5:T0.1, 9:T0.2, 12/pick:T0.3")), 20);
  EXPECT_EQ(common_until(base, {}), 5);
  // A question of clock 12 is asked before a checkpoint at 12 is reached.
  EXPECT_EQ(common_until(base, *parse_schedule("5:T0.1, 9:T0.2, 12/pick:T0.1, 20:T0.1")), 11);
}

}  // namespace
}  // namespace clew
