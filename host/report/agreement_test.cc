#include "host/report/agreement.h"

#include <gtest/gtest.h>

namespace clew {
namespace {

Explanation explanation_of(const Location& root, const Location& step, bool main) {
  Explanation explanation;
  explanation.root = {root};
  StoryStep one;
  one.at = step;
  one.main = main;
  explanation.story = {one};
  return explanation;
}
const Location kPut{"/a/queue.cc", 31, "Queue::put"};
const Location kTake{"/a/queue.cc", 45, "Queue::take"};

PinpointResult noise_at(const Location& at) {
  PinpointResult result;
  result.points.resize(1);
  result.points[0].at = at;
  NoiseCause cause;
  cause.points = {0};
  cause.rate = {.failed = 9, .runs = 10};
  result.causes = {cause};
  return result;
}

TEST(Agreement, OfNoiseIsByLineThenByFunction) {
  const Explanation explanation = explanation_of(kPut, kTake, true);
  EXPECT_EQ(agreed(noise_at(kPut), explanation).agreement, Agreement::kSameLine);
  EXPECT_EQ(agreed(noise_at(kTake), explanation).agreement, Agreement::kSameLine);
  EXPECT_EQ(agreed(noise_at({"/a/queue.cc", 32, "Queue::put"}), explanation).agreement,
            Agreement::kSameFunction);
  EXPECT_EQ(agreed(noise_at({"/b/queue.cc", 31, "Queue::put"}), explanation).agreement,
            Agreement::kElsewhere);
  EXPECT_EQ(agreed(PinpointResult(), explanation).agreement, Agreement::kNothing);
}

TEST(Agreement, OfALibrarysCodeIsByTheLinesThatCallIt) {
  PinpointResult result = noise_at({"/usr/include/mutex", 7, "lock"});
  result.points[0].in_library = true;
  result.points[0].callers = {{"/a/queue.cc", 90, "main"}, kPut};
  EXPECT_EQ(agreed(result, explanation_of(kPut, kTake, true)).agreement, Agreement::kSameLine);
}

TEST(Agreement, StepsThatAreNotToldDoNotCount) {
  EXPECT_EQ(agreed(noise_at(kTake), explanation_of(kPut, kTake, false)).agreement,
            Agreement::kElsewhere);
}

RankResult ranking_of(std::uint32_t first, std::uint32_t last, double p) {
  RankResult result;
  ProgramFunction function;
  function.source = {"Queue::put", "/a/queue.cc", first, true};
  function.last_line = last;
  result.functions = {function};
  RankedFunction ranked;
  ranked.score = 1;
  ranked.p = p;
  result.ranking = {ranked};
  return result;
}

TEST(Agreement, OfCallsIsByTheLinesOfTheFunction) {
  const Explanation explanation = explanation_of(kPut, kPut, true);
  EXPECT_EQ(agreed(ranking_of(29, 35, 0.01), explanation).agreement, Agreement::kSameFunction);
  EXPECT_EQ(agreed(ranking_of(29, 30, 0.01), explanation).agreement, Agreement::kElsewhere);
  EXPECT_EQ(agreed(ranking_of(29, 35, 0.5), explanation).agreement, Agreement::kNothing);
}

}  // namespace
}  // namespace clew
