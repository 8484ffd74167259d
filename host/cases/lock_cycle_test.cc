#include "host/cases/lock_cycle.h"

#include <gtest/gtest.h>

#include <vector>

namespace clew {
namespace {

using abi::StepKind;

class Runs {
 public:
  LabRun run;
  void lock(abi::ThreadKey thread, std::uint64_t object) { add(thread, object, StepKind::kLock); }
  void unlock(abi::ThreadKey thread, std::uint64_t object) {
    add(thread, object, StepKind::kUnlock);
  }

 private:
  void add(abi::ThreadKey thread, std::uint64_t object, StepKind kind) {
    TraceStep step;
    step.thread = thread;
    step.object = object;
    step.kind = kind;
    step.clock = run.steps.size() + 1;
    for (const TraceStep& before : run.steps) step.own += before.thread == thread ? 1 : 0;
    ++step.own;
    step.place = object * 10 + static_cast<std::uint64_t>(kind);
    run.steps.push_back(step);
  }
};

// Three threads, each with a lock, about to take that of the next: one attempt is a step of the run, the
// others are known from a run in which they succeed.
TEST(LockCycle, IsFoundFromWhatThreadsWouldHaveDone) {
  Runs failing;
  failing.lock(1, 7);
  failing.unlock(1, 7);
  for (abi::ThreadKey thread = 1; thread <= 3; ++thread) failing.lock(thread, 10 + thread);
  failing.lock(3, 11);
  Runs passing;
  passing.lock(1, 7);
  passing.unlock(1, 7);
  for (abi::ThreadKey thread = 1; thread <= 3; ++thread) {
    passing.lock(thread, 10 + thread);
    passing.lock(thread, 10 + thread % 3 + 1);
    passing.unlock(thread, 10 + thread % 3 + 1);
    passing.unlock(thread, 10 + thread);
  }
  const std::vector<LockWait> cycle = lock_cycle(failing.run, {&passing.run});
  ASSERT_EQ(cycle.size(), 3u);
  for (const LockWait& wait : cycle) {
    EXPECT_EQ(failing.run.steps[wait.taken].object, wait.attempt.object);
    EXPECT_NE(failing.run.steps[wait.taken].thread, wait.attempt.thread);
  }
  EXPECT_TRUE(lock_cycle(failing.run, {}).empty()) << "two attempts are not known";
}

TEST(LockCycle, IsNoneIfALockWasGivenBack) {
  Runs failing;
  failing.lock(1, 11);
  failing.lock(2, 12);
  failing.unlock(2, 12);
  failing.lock(2, 11);
  EXPECT_TRUE(lock_cycle(failing.run, {}).empty());
}

}  // namespace
}  // namespace clew
