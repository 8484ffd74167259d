#include "runtime/strategy/prefix.h"

#include <gtest/gtest.h>

#include "host/search/guides.h"
#include "runtime/strategy/strategy_simulation.h"

namespace clew::rt::simulation {
namespace {

std::string follow(const Program& program, const std::vector<std::uint32_t>& threads) {
  const auto guide = prefix_guide(threads);
  return run_once<Prefix>(program, make_job(1, &guide)).order;
}

const Program& two() {
  static const Program program{private_steps(0, 3), private_steps(1, 3)};
  return program;
}

TEST(Prefix, IsFollowedThenNothingIsPreempted) {
  EXPECT_EQ(follow(two(), {}), "aaabbb");
  EXPECT_EQ(follow(two(), {1, 0, 1, 0}), "babaab");
  EXPECT_EQ(follow(two(), {1, 1, 1, 0, 0, 0}), "bbbaaa");
}

TEST(Prefix, AThreadThatCannotRunIsPassedOver) {
  EXPECT_EQ(follow(two(), {7, 1, 9, 0}), "abbaab");
  const Program program{{{lock(0x80), write(0x10, 1), unlock(0x80)}},
                        {{lock(0x80), write(0x10, 2), unlock(0x80)}},
                        private_steps(2, 2)};
  EXPECT_EQ(follow(program, {0, 1, 2, 0, 1, 2}), "aacabcbb");
}

// A step that nobody was asked about counts like any other.
TEST(Prefix, CountsStepsOfAThreadAlone) {
  Program program{{{write(0x10, 1), create(1), write(0x20, 2), write(0x30, 3)}},
                  private_steps(1, 3)};
  program[1].from_start = false;
  EXPECT_EQ(follow(program, {0, 0, 1, 0, 1}), "aababba");
}

TEST(Prefix, BadGuidesAreNone) {
  auto guide = prefix_guide(std::vector<std::uint32_t>{1, 1, 0});
  guide.pop_back();
  EXPECT_EQ(run_once<Prefix>(two(), make_job(1, &guide)).order, "aaabbb");
  const std::vector<std::uint8_t> huge{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
  EXPECT_EQ(run_once<Prefix>(two(), make_job(1, &huge)).order, "aaabbb");
}

}  // namespace
}  // namespace clew::rt::simulation
