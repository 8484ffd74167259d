#include "runtime/sched/timers.h"

#include <gtest/gtest.h>

namespace clew::rt {
namespace {

TEST(Timers, FireInTheOrderOfTheirDeadlines) {
  Timers timers;
  Timer late, early, same;
  timers.arm(late, 30);
  timers.arm(early, 10);
  timers.arm(same, 10);
  EXPECT_EQ(timers.next_deadline(), 10);
  EXPECT_EQ(timers.take_due(9), nullptr);
  EXPECT_EQ(timers.take_due(20), &early);
  EXPECT_EQ(timers.take_due(20), &same) << "of one deadline, the first armed is the first to fire";
  EXPECT_EQ(timers.take_due(20), nullptr);
  EXPECT_EQ(timers.take_due(30), &late);
  EXPECT_TRUE(timers.empty());
  EXPECT_EQ(timers.next_deadline(), kForever);
}

TEST(Timers, OneThatHasFiredIsNotArmed) {
  Timers timers;
  Timer timer;
  timers.arm(timer, 5);
  EXPECT_EQ(timers.take_due(5), &timer);
  EXPECT_EQ(timer.deadline, kForever);
  timers.disarm(timer);  // has no effect
  timers.arm(timer, 8);
  EXPECT_EQ(timers.next_deadline(), 8);
}

TEST(Timers, ArmingAgainMovesIt) {
  Timers timers;
  Timer one, other;
  timers.arm(one, 5);
  timers.arm(other, 7);
  timers.arm(one, 9);
  EXPECT_EQ(timers.take_due(100), &other);
  EXPECT_EQ(timers.take_due(100), &one);
  EXPECT_EQ(timers.take_due(100), nullptr);
}

TEST(Timers, DisarmedOnesDoNotFire) {
  Timers timers;
  Timer first, middle, last;
  timers.arm(first, 1);
  timers.arm(middle, 2);
  timers.arm(last, 3);
  timers.disarm(middle);
  EXPECT_EQ(timers.take_due(100), &first);
  EXPECT_EQ(timers.take_due(100), &last);
  EXPECT_TRUE(timers.empty());
}

}  // namespace
}  // namespace clew::rt
