#include "host/trace/lock_steps.h"

#include <gtest/gtest.h>

#include <map>

namespace clew {
namespace {

using abi::StepKind;

constexpr abi::ThreadKey kA = 11;
constexpr abi::ThreadKey kB = 22;
constexpr std::uint64_t kMutex = 0x100;
constexpr std::uint64_t kCondition = 0x200;

struct Course {
  Trace trace;
  std::map<abi::ThreadKey, std::uint64_t> own;

  Course& step(abi::ThreadKey thread, StepKind kind, std::uint64_t object = kMutex) {
    trace.steps.push_back({.thread = thread,
                           .place = 2,
                           .object = object,
                           .clock = trace.steps.size() + 1,
                           .own = ++own[thread],
                           .kind = kind});
    return *this;
  }
  Course& preempt(abi::ThreadKey thread) {
    trace.decisions.push_back({.thread = thread,
                               .clock = trace.steps.size() + 1,
                               .own = own[thread] + 1,
                               .steps_before = trace.steps.size()});
    return *this;
  }
};

TEST(LockSteps, OneAfterTheOther) {
  Course course;
  course.step(kA, StepKind::kLock).step(kA, StepKind::kUnlock).step(kB, StepKind::kLock);
  EXPECT_EQ(lock_steps(course.trace),
            (std::vector{LockStep::kObtained, LockStep::kNone, LockStep::kObtained}));
}

TEST(LockSteps, BlockedUntilTheOtherLetsGo) {
  Course course;
  course.step(kA, StepKind::kLock).step(kB, StepKind::kLock).step(kA, StepKind::kUnlock);
  course.step(kB, StepKind::kWrite, 8).step(kA, StepKind::kLock).step(kB, StepKind::kUnlock);
  const auto steps = lock_steps(course.trace);
  EXPECT_EQ(steps[1], LockStep::kBlocked);
  EXPECT_EQ(steps[4], LockStep::kBlocked) << "B has it from its write on";
}

TEST(LockSteps, BlockedForEver) {
  Course course;
  course.step(kA, StepKind::kLock).step(kB, StepKind::kLock, 0x300);
  course.step(kA, StepKind::kLock, 0x300).step(kB, StepKind::kLock);
  const auto steps = lock_steps(course.trace);
  EXPECT_EQ(steps[2], LockStep::kBlocked);
  EXPECT_EQ(steps[3], LockStep::kBlocked);
}

TEST(LockSteps, SharedOrTried) {
  Course course;
  course.step(kA, StepKind::kLock).step(kB, StepKind::kLock).step(kB, StepKind::kRead, 8);
  EXPECT_EQ(lock_steps(course.trace)[1], LockStep::kUnclear);
  // Preempted right after: it could have gone on.
  Course other;
  other.step(kA, StepKind::kLock).step(kB, StepKind::kLock).preempt(kB).step(kA, StepKind::kUnlock);
  EXPECT_EQ(lock_steps(other.trace)[1], LockStep::kUnclear);
}

TEST(LockSteps, AWaitLetsGo) {
  Course course;
  course.step(kA, StepKind::kLock).step(kA, StepKind::kWait, kCondition).step(kB, StepKind::kLock);
  course.step(kB, StepKind::kUnlock).step(kA, StepKind::kRead, 8).step(kB, StepKind::kLock);
  const auto steps = lock_steps(course.trace);
  EXPECT_EQ(steps[2], LockStep::kObtained);
  EXPECT_EQ(steps[5], LockStep::kBlocked) << "A has it again when it wakes";
}

TEST(LockSteps, LockedTwice) {
  Course course;
  course.step(kA, StepKind::kLock).step(kA, StepKind::kLock).step(kA, StepKind::kUnlock);
  course.step(kB, StepKind::kLock).step(kA, StepKind::kUnlock);
  EXPECT_EQ(lock_steps(course.trace)[3], LockStep::kBlocked);
}

}  // namespace
}  // namespace clew
