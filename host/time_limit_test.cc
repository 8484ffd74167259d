#include "host/time_limit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace clew {
namespace {

TEST(TimeLimit, NoneIsNeverOver) {
  EXPECT_FALSE(TimeLimit::is_over());
  EXPECT_TRUE(std::isinf(TimeLimit::seconds_left()));
  const TimeLimit none(0);
  EXPECT_TRUE(std::isinf(TimeLimit::seconds_left()));
}

TEST(TimeLimit, TheSoonestHolds) {
  const TimeLimit outer(100);
  {
    const TimeLimit longer(1000);
    EXPECT_LE(TimeLimit::seconds_left(), 100);
    const TimeLimit past(1e-9);
    while (!TimeLimit::is_over()) {
    }
    EXPECT_EQ(TimeLimit::seconds_left(), 0);
  }
  EXPECT_FALSE(TimeLimit::is_over());
  EXPECT_GT(TimeLimit::seconds_left(), 10);
}

TEST(TimeLimit, WhatWasFoundIsKeptBeyondTheSearch) {
  EXPECT_EQ(TimeLimit::with_keeping(0), 0);
  EXPECT_EQ(TimeLimit::with_keeping(2), 3);
  EXPECT_EQ(TimeLimit::with_keeping(100), 120);
}

}  // namespace
}  // namespace clew
