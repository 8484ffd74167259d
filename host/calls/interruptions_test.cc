#include "host/calls/interruptions.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

constexpr FunctionNumber kMain = 0, kWork = 1, kLook = 2, kAct = 3, kReport = 4;

CallEdge interruption(FunctionNumber in, FunctionNumber after, FunctionNumber before,
                      FunctionNumber other) {
  return {0, in, before, EdgeKind::kInterruption, after, other};
}

// Threads 1 and 2 execute kWork, which calls kLook and then kAct. Stacks grow down from 1000.
class InterruptionsTest : public testing::Test {
 protected:
  void begin(std::uint32_t thread) { all_.entered(thread, kWork, 1000, counts_); }
  void call(std::uint32_t thread, FunctionNumber callee) {
    all_.called(thread, kWork, callee, 900, counts_);
  }
  void main_calls(FunctionNumber callee, std::uint64_t address) {
    all_.first_thread_calls_at(kMain, address);
    all_.called(0, kMain, callee, 1900, counts_);
  }
  std::uint64_t count(const CallEdge& edge) const {
    const auto found = counts_.find(edge);
    return found == counts_.end() ? 0 : found->second;
  }

  Interruptions all_;
  CallCounts counts_;
};

TEST_F(InterruptionsTest, NobodyComesBetweenCallsOfAThreadThatRunsAlone) {
  begin(1);
  begin(2);
  call(1, kLook);
  call(1, kAct);
  call(2, kLook);
  call(2, kAct);
  EXPECT_EQ(count(interruption(kWork, kLook, kAct, kLook)), 0u);
  EXPECT_EQ(count(interruption(kWork, kNoFunction, kNoFunction, kAct)), 0u);
}

TEST_F(InterruptionsTest, WhatAnotherThreadCallsBetweenTwoCallsIsCountedOnce) {
  begin(1);
  begin(2);
  call(1, kLook);
  call(2, kLook);
  call(2, kAct);
  call(2, kLook);
  call(1, kAct);
  EXPECT_EQ(count(interruption(kWork, kLook, kAct, kLook)), 1u);
  EXPECT_EQ(count(interruption(kWork, kLook, kAct, kAct)), 1u);
  EXPECT_EQ(count(interruption(kWork, kNoFunction, kNoFunction, kAct)), 1u);
  // Thread 2 had thread 1's look before its own first call, and its act not between two.
  EXPECT_EQ(count(interruption(kWork, kNoFunction, kLook, kLook)), 1u);
  EXPECT_EQ(count(interruption(kWork, kLook, kAct, kWork)), 0u);
}

TEST_F(InterruptionsTest, AThreadThatWasCalledBeforeAndRunsAgainCounts) {
  begin(1);
  begin(2);
  call(2, kAct);
  call(1, kLook);
  all_.resumed(2, counts_);
  call(1, kAct);
  EXPECT_EQ(count(interruption(kWork, kLook, kAct, kAct)), 1u);
}

TEST_F(InterruptionsTest, WhoStartsAThreadIsNotInterruptedUntilItsNextCall) {
  begin(1);
  begin(2);
  call(1, kLook);
  all_.left(1, 900);
  all_.starts_thread(1);
  call(2, kAct);
  call(1, kAct);
  EXPECT_EQ(count(interruption(kWork, kLook, kAct, kAct)), 0u);
  call(2, kAct);
  call(1, kLook);
  EXPECT_EQ(count(interruption(kWork, kAct, kLook, kAct)), 1u);
}

TEST_F(InterruptionsTest, EachActivationHasCallsOfItsOwn) {
  begin(1);
  call(1, kLook);
  all_.left(1, 1000);
  begin(2);
  call(2, kLook);
  begin(1);
  call(1, kAct);
  EXPECT_EQ(count(interruption(kWork, kLook, kAct, kLook)), 0u);
}

TEST_F(InterruptionsTest, TheEndIsWhatComesAfterAllOtherThreads) {
  all_.entered(0, kMain, 2000, counts_);
  main_calls(kLook, 10);
  EXPECT_FALSE(all_.is_at_the_end(kReport, kReport, 0));  // nobody else has run
  begin(1);
  call(1, kAct);
  main_calls(kReport, 20);
  EXPECT_TRUE(all_.is_at_the_end(kReport, kReport, 0));
  EXPECT_TRUE(all_.is_at_the_end(kMain, kMain, 20));
  EXPECT_FALSE(all_.is_at_the_end(kMain, kMain, 10));
  EXPECT_FALSE(all_.is_at_the_end(kLook, kLook, 0));
  EXPECT_FALSE(all_.is_at_the_end(kAct, kAct, 0));
  begin(1);  // a thread that lives yet: it was not the end
  EXPECT_FALSE(all_.is_at_the_end(kReport, kReport, 0));
  EXPECT_FALSE(all_.is_at_the_end(kMain, kMain, 20));
}

TEST_F(InterruptionsTest, WhatIsInlinedIsNotTheEndIfItsBodyIsNot) {
  all_.entered(0, kMain, 2000, counts_);
  main_calls(kLook, 10);
  begin(1);
  EXPECT_FALSE(all_.is_at_the_end(kAct, kWork, 0));     // into the thread's function
  EXPECT_FALSE(all_.is_at_the_end(kReport, kMain, 5));  // into main, before
  EXPECT_TRUE(all_.is_at_the_end(kReport, kMain, 15));  // and behind its last call before that
}

TEST_F(InterruptionsTest, ALibrarysCallByAnotherThreadIsNotTheEnd) {
  all_.entered(0, kMain, 2000, counts_);
  begin(1);
  main_calls(kReport, 20);
  EXPECT_TRUE(all_.is_at_the_end(kReport, kReport, 0));
  all_.called_out(1, kAct, counts_);
  EXPECT_FALSE(all_.is_at_the_end(kReport, kReport, 0));
  EXPECT_FALSE(all_.is_at_the_end(kAct, kAct, 0));
}

TEST_F(InterruptionsTest, CallsOfTheFirstThreadCountOnlyIfOthersComeAfterThem) {
  all_.entered(0, kMain, 2000, counts_);
  main_calls(kLook, 10);
  begin(1);
  call(1, kAct);
  main_calls(kReport, 20);
  EXPECT_EQ(count(interruption(kMain, kLook, kReport, kAct)), 0u);
  call(1, kAct);
  EXPECT_EQ(count(interruption(kMain, kLook, kReport, kAct)), 1u);
}

}  // namespace
}  // namespace clew
