// Valid texts and streams, damaged in thousands of ways: an error or a value, and a
// value reads back as itself. Run under the sanitizers.
#include <gtest/gtest.h>

#include <random>

#include "host/schedule/stream.h"
#include "host/schedule/test_util.h"

namespace clew {
namespace {

constexpr int kCases = 10'000;

TEST(Mutation, ScheduleText) {
  std::mt19937_64 random(4);
  int good = 0;
  for (int i = 0; i < kCases; ++i) {
    const std::string text = mutate(random, format_schedule(random_schedule(random)));
    const auto schedule = parse_schedule(text);
    if (schedule) {
      ++good;
      EXPECT_EQ(parse_schedule(format_schedule(*schedule)), *schedule) << "case " << i;
      EXPECT_EQ(to_schedule(encode(*schedule)), *schedule) << "case " << i;
    } else {
      EXPECT_EQ(schedule.error().message.find('\n'), std::string::npos) << "case " << i;
      EXPECT_FALSE(schedule.error().hint.empty()) << "case " << i;
    }
  }
  EXPECT_GT(good, kCases / 50);
  EXPECT_LT(good, kCases * 9 / 10);
}

TEST(Mutation, StreamBytes) {
  std::mt19937_64 random(5);
  for (int i = 0; i < kCases; ++i) {
    Stream stream = encode(random_schedule(random));
    stream.bytes = mutate(random, stream.bytes);
    if (const auto schedule = to_schedule(stream))
      EXPECT_EQ(to_schedule(encode(*schedule)), *schedule) << "case " << i;
  }
}

}  // namespace
}  // namespace clew
