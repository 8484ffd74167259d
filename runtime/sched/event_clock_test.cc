#include "runtime/sched/event_clock.h"

#include <gtest/gtest.h>

namespace clew::rt {
namespace {

using Looks = EventClock::Looks;

class EventClockTest : public testing::Test {
 protected:
  EventClockTest() {
    clock_.init(live_, 1);
    clock_.run(&countdown_, EventClock::Counts::kYes);
  }

  // Passes events as compiled code does; how many until the slow side has to look.
  int count_until_look() {
    int passed = 0;
    while (clock_.count()) ++passed;
    return passed;
  }
  void pass_slowly() {
    clock_.begin_event();
    clock_.end_event();
  }

  std::atomic<std::uint64_t> live_ = 0;
  std::int64_t countdown_ = 0;
  EventClock clock_;
};

TEST_F(EventClockTest, CountsUpToTheEventOfAttention) {
  clock_.arm(10, Looks::kWhenDue);
  EXPECT_EQ(clock_.now(), 0u);
  EXPECT_EQ(count_until_look(), 9);
  EXPECT_EQ(clock_.begin_event(), 10u);
  EXPECT_EQ(clock_.settled(), 9u);
  clock_.end_event();
  EXPECT_EQ(clock_.settled(), 10u);
}

TEST_F(EventClockTest, AttentionInThePastIsTheNextEvent) {
  clock_.arm(3, Looks::kWhenDue);
  count_until_look();
  pass_slowly();
  clock_.arm(1, Looks::kWhenDue);
  EXPECT_EQ(count_until_look(), 0);
  EXPECT_EQ(clock_.begin_event(), 4u);
}

TEST_F(EventClockTest, NowIsExactBetweenLooks) {
  clock_.arm(100, Looks::kWhenDue);
  for (std::uint64_t passed = 1; passed <= 5; ++passed) {
    EXPECT_TRUE(clock_.count());
    EXPECT_EQ(clock_.now(), passed);
    EXPECT_EQ(clock_.settled(), 0u);
  }
  clock_.settle();
  EXPECT_EQ(clock_.settled(), 5u);
}

TEST_F(EventClockTest, AtEveryPointEachEventIsLookedAt) {
  clock_.arm(4, Looks::kAtEveryPoint);
  EXPECT_FALSE(clock_.count());
  EXPECT_TRUE(clock_.pass_quickly());
  EXPECT_EQ(clock_.now(), 1u);
  EXPECT_FALSE(clock_.count());
  EXPECT_TRUE(clock_.pass_quickly());
  EXPECT_FALSE(clock_.count());
  EXPECT_TRUE(clock_.pass_quickly());
  EXPECT_FALSE(clock_.count());
  EXPECT_FALSE(clock_.pass_quickly()) << "event 4 is the one of attention";
  EXPECT_EQ(clock_.begin_event(), 4u);
}

TEST_F(EventClockTest, EventsOfTheWindowAreLookedAtOneByOne) {
  clock_.set_window({5, 7});
  clock_.arm(20, Looks::kWhenDue);
  EXPECT_EQ(count_until_look(), 4);
  for (Clock event = 5; event <= 7; ++event) {
    EXPECT_TRUE(clock_.pass_for_listeners());
    EXPECT_TRUE(clock_.only_listened_to());
    EXPECT_EQ(clock_.now(), event);
    if (event < 7) EXPECT_FALSE(clock_.count());
  }
  EXPECT_EQ(count_until_look(), 12) << "what was due at event 20 is still due there";
  EXPECT_FALSE(clock_.pass_for_listeners());
  EXPECT_EQ(clock_.begin_event(), 20u);
  clock_.end_event();
  EXPECT_FALSE(clock_.only_listened_to());
}

TEST_F(EventClockTest, AWindowIsNoReasonToPassWhatIsDue) {
  clock_.set_window({1, 10});
  clock_.arm(1, Looks::kWhenDue);
  EXPECT_EQ(count_until_look(), 0);
  EXPECT_FALSE(clock_.pass_for_listeners());
}

// Compiled code counts the variable down, and calls a hook wherever it is below 0.
TEST_F(EventClockTest, HooksThatPassRepetitionsSeeEachPointAndTellWhatIsDue) {
  clock_.set_window(Window::all(), EventClock::Regions::kSeen, EventClock::Hooks::kChoose);
  clock_.arm(10, Looks::kWhenDue);
  constexpr std::int64_t kDue = std::int64_t{1} << CLEW_DUE_BIT;
  for (Clock event = 1; event < 10; ++event) {
    --countdown_;
    EXPECT_LT(countdown_, 0);
    EXPECT_EQ(countdown_ & kDue, 0) << event;
    EXPECT_TRUE(clock_.passed_for_listeners());
    EXPECT_EQ(clock_.now(), event);
    if (event % 2 == 0) EXPECT_TRUE(clock_.pass_for_listeners());
    EXPECT_EQ(clock_.now(), event);
  }
  --countdown_;
  EXPECT_LT(countdown_, 0);
  EXPECT_NE(countdown_ & kDue, 0);
  EXPECT_FALSE(clock_.passed_for_listeners());
  EXPECT_FALSE(clock_.pass_for_listeners());
  EXPECT_EQ(clock_.begin_event(), 10u);
  clock_.end_event();
}

// Of a strategy that decides at every point: the hook passes some, and calls at others.
TEST_F(EventClockTest, HooksLeaveOutPointsOfAStrategyThatDecidesAtEachOne) {
  clock_.set_window(Window::none(), EventClock::Regions::kUnseen, EventClock::Hooks::kChoose);
  clock_.arm(100, Looks::kWhenDue);
  EXPECT_GE(countdown_, 0) << "no hook is called";
  clock_.arm(100, Looks::kAtEveryPoint);
  EXPECT_TRUE(clock_.hooked_at_every_point());
  for (int i = 0; i < 5; ++i) --countdown_;
  EXPECT_FALSE(clock_.passed_for_listeners());
  EXPECT_TRUE(clock_.pass_quickly());
  EXPECT_EQ(clock_.now(), 5u);
  EXPECT_FALSE(clock_.count()) << "a call is looked at";
  EXPECT_FALSE(clock_.pass_for_listeners());
  EXPECT_EQ(clock_.begin_event(), 6u);
  clock_.end_event();
  clock_.arm(8, Looks::kAtEveryPoint);
  EXPECT_EQ(clock_.now(), 6u);
  EXPECT_FALSE(clock_.count());
  EXPECT_TRUE(clock_.pass_quickly());
  EXPECT_FALSE(clock_.count());
  EXPECT_FALSE(clock_.pass_quickly()) << "event 8 is the one of attention";
  EXPECT_EQ(clock_.begin_event(), 8u);
}

TEST_F(EventClockTest, RegionsDoNotCountWhereHooksPassRepetitions) {
  clock_.set_window(Window::all(), EventClock::Regions::kSeen, EventClock::Hooks::kChoose);
  clock_.arm(100, Looks::kWhenDue);
  EXPECT_TRUE(clock_.count());
  const std::int64_t left = clock_.left();
  clock_.stop_counting();
  --countdown_;
  EXPECT_LT(countdown_, 0);
  EXPECT_NE(countdown_ & std::int64_t{1} << CLEW_DUE_BIT, 0);
  EXPECT_FALSE(clock_.passed_for_listeners());
  clock_.resume_counting(left);
  EXPECT_EQ(clock_.now(), 1u);
  EXPECT_EQ(count_until_look(), 98);
}

TEST_F(EventClockTest, WhatIsDueSoonerBringsTheLookForward) {
  clock_.arm(100, Looks::kWhenDue);
  EXPECT_TRUE(clock_.count());
  clock_.settle();
  clock_.bring_forward(4);
  EXPECT_EQ(count_until_look(), 2);
  EXPECT_EQ(clock_.begin_event(), 4u);
}

TEST_F(EventClockTest, WhatIsDueLaterChangesNothing) {
  clock_.arm(4, Looks::kWhenDue);
  clock_.bring_forward(50);
  EXPECT_EQ(count_until_look(), 3);
}

TEST_F(EventClockTest, RegionsWithoutPointsDoNotCount) {
  clock_.arm(10, Looks::kWhenDue);
  EXPECT_TRUE(clock_.count());
  clock_.stop_counting();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(clock_.count());
  EXPECT_EQ(clock_.now(), 1u);
  clock_.start_counting();
  clock_.arm(10, Looks::kWhenDue);
  EXPECT_EQ(count_until_look(), 8);
}

TEST_F(EventClockTest, AHandlerOfAFaultGoesByTheLastCertainClock) {
  clock_.note_certain(2);
  clock_.arm(50, Looks::kWhenDue);
  for (int i = 0; i < 7; ++i) clock_.count();
  const std::int64_t before = countdown_;
  EXPECT_EQ(clock_.fall_back(), 7u);
  EXPECT_EQ(clock_.now(), 2u);
  clock_.resume_counting(before);
  EXPECT_EQ(clock_.now(), 7u) << "it returned: nothing has happened";
}

TEST_F(EventClockTest, AJumpOutOfAHandlerTakesTheRecordedClock) {
  clock_.note_certain(2);
  clock_.arm(50, Looks::kWhenDue);
  for (int i = 0; i < 7; ++i) clock_.count();
  clock_.fall_back();
  clock_.catch_up(6);
  clock_.start_counting();
  clock_.arm(50, Looks::kWhenDue);
  EXPECT_EQ(clock_.now(), 6u);
}

TEST_F(EventClockTest, TimeIsThatOfThePointsAndWhatPassedWithout) {
  clock_.arm(100, Looks::kWhenDue);
  for (int i = 0; i < 5; ++i) clock_.count();
  EXPECT_EQ(clock_.time(), 5 * kNanosPerPoint);
  clock_.pass(1000);
  clock_.pass_idle(300);
  EXPECT_EQ(clock_.time(), 5 * kNanosPerPoint + 1300);
  EXPECT_EQ(clock_.idle(), 300);
}

TEST_F(EventClockTest, ADeadlineIsReachedSoonerByAFastClock) {
  clock_.init(live_, 50);
  clock_.arm(100, Looks::kWhenDue);
  for (int i = 0; i < 5; ++i) clock_.count();
  EXPECT_EQ(clock_.time(), 5 * 50 * kNanosPerPoint);
  clock_.settle();
  EXPECT_EQ(clock_.event_at(7 * 50 * kNanosPerPoint), 8u);
  EXPECT_EQ(clock_.event_at(7 * 50 * kNanosPerPoint + 1), 8u) << "as at speed 1, rounded down";
}

TEST_F(EventClockTest, ADeadlineIsAnEvent) {
  EXPECT_EQ(clock_.event_at(0), 1u);
  EXPECT_EQ(clock_.event_at(7 * kNanosPerPoint), 8u);
  clock_.pass(3 * kNanosPerPoint);
  EXPECT_EQ(clock_.event_at(7 * kNanosPerPoint), 5u);
  EXPECT_EQ(clock_.event_at(-1), 1u);
}

TEST_F(EventClockTest, TellsTheHostWhereItIs) {
  clock_.arm(3, Looks::kWhenDue);
  count_until_look();
  pass_slowly();
  clock_.arm(9, Looks::kWhenDue);
  EXPECT_EQ(live_.load(), 3u);
}

TEST_F(EventClockTest, AnotherThreadGoesOnWithTheSameClock) {
  clock_.arm(10, Looks::kWhenDue);
  for (int i = 0; i < 4; ++i) clock_.count();
  clock_.settle();
  std::int64_t other = 77;  // whatever it was when that thread was left
  clock_.run(&other, EventClock::Counts::kYes);
  clock_.arm(10, Looks::kWhenDue);
  EXPECT_EQ(clock_.now(), 4u);
  EXPECT_EQ(other, 5);
}

}  // namespace
}  // namespace clew::rt
