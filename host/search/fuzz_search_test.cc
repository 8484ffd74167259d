#include "host/search/fuzz_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "host/schedule/stream.h"

namespace clew {
namespace {

Schedule schedule_at(std::initializer_list<std::uint64_t> clocks) {
  Schedule schedule;
  std::uint32_t ordinal = 0;
  for (const std::uint64_t clock : clocks)
    schedule.switches.push_back({{clock}, ThreadId().child(++ordinal)});
  return schedule;
}

std::vector<Schedule> schedules(FuzzSearch& search, std::size_t count) {
  std::vector<Schedule> all;
  for (const JobPlan& job : search.next(count)) all.push_back(FuzzSearch::schedule_of(job));
  return all;
}

TEST(FuzzSearch, SameSeedSameJobsHoweverTheyAreAskedFor) {
  FuzzSearch one(schedule_at({10, 50}), Verdict::kFail, 100, 3);
  FuzzSearch other(schedule_at({10, 50}), Verdict::kFail, 100, 3);
  FuzzSearch different(schedule_at({10, 50}), Verdict::kFail, 100, 4);
  const std::vector<JobPlan> jobs = one.next(60);
  std::vector<JobPlan> parts;
  for (const std::size_t most : {1, 9, 50})
    for (JobPlan& job : other.next(most)) parts.push_back(std::move(job));
  EXPECT_EQ(jobs, parts);
  EXPECT_NE(jobs, different.next(60));
}

TEST(FuzzSearch, JobsAreEncodedSchedules) {
  FuzzSearch search(schedule_at({10, 50}), Verdict::kFail, 100, 3);
  for (const JobPlan& job : search.next(20)) {
    EXPECT_EQ(job.strategy, abi::StrategyKind::kSchedule);
    const Stream stream = encode(FuzzSearch::schedule_of(job));
    EXPECT_EQ(job.guide, stream.bytes);
    EXPECT_EQ(job.names, stream.names);
  }
}

TEST(FuzzSearch, KeepsOrderTargetsAndRange) {
  const Schedule from = schedule_at({1, 2, 2, 500, 501, 990, 1000});
  FuzzSearch search(from, Verdict::kPass, 1000, 1);
  while (search.sigma() < 1000) {
    for (const Schedule& schedule : schedules(search, 4)) {
      if (search.sigma() >= 1000) break;  // from then on switches come and go
      ASSERT_EQ(schedule.switches.size(), from.switches.size());
      EXPECT_TRUE(std::ranges::is_sorted(schedule.switches, {}, &Switch::clock));
      EXPECT_GE(schedule.switches.front().clock.value, 1u);
      EXPECT_LE(schedule.switches.back().clock.value, 1000u);
      for (std::size_t i = 0; i < from.switches.size(); ++i)
        EXPECT_EQ(schedule.switches[i].to, from.switches[i].to);
    }
  }
}

TEST(FuzzSearch, NeverProposesTheSameTwiceNorTheOriginal) {
  const Schedule from = schedule_at({50});
  FuzzSearch search(from, Verdict::kPass, 100, 1);
  std::set<std::string> seen{format_schedule(from)};
  for (const Schedule& schedule : schedules(search, 300))
    EXPECT_TRUE(seen.insert(format_schedule(schedule)).second) << format_schedule(schedule);
}

TEST(FuzzSearch, SigmaStartsNarrowAndGrowsByTheDocumentedSteps) {
  // Many switches, so that no draw comes twice and nothing is skipped.
  Schedule from;
  for (std::uint64_t i = 1; i <= 200; ++i) from.switches.push_back({{i * 1000}, std::nullopt});
  FuzzSearch search(from, Verdict::kFail, 300'000, 1);
  EXPECT_EQ(search.sigma(), 0.5);
  (void)search.next(64);
  EXPECT_NEAR(search.sigma(), 8, 1e-9);
  (void)search.next(344);
  EXPECT_EQ(search.sigma(), 300'000);
}

TEST(FuzzSearch, DrawsAreGaussianAroundTheOriginal) {
  // 4096 switches far apart: sorting changes nothing, and one job is a sample of that size.
  Schedule from;
  for (std::uint64_t i = 1; i <= 4096; ++i) from.switches.push_back({{i * 10'000}, std::nullopt});
  FuzzSearch search(from, Verdict::kFail, 100'000'000, 9);
  std::vector<JobPlan> jobs = search.next(8 * 16 + 1);  // the last one at sigma = 0.5 * 2^8
  const auto check = [&](const JobPlan& job, double sigma) {
    const Schedule schedule = FuzzSearch::schedule_of(job);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < from.switches.size(); ++i) {
      const double moved = static_cast<double>(schedule.switches[i].clock.value) -
                           static_cast<double>(from.switches[i].clock.value);
      sum += moved;
      squares += moved * moved;
    }
    const auto count = static_cast<double>(from.switches.size());
    EXPECT_NEAR(sum / count, 0, 5 * sigma / 64);
    EXPECT_NEAR(std::sqrt(squares / count), sigma, sigma * 0.06);
  };
  check(jobs.back(), 128);
  check(jobs[8 * 10], 16);
}

TEST(FuzzSearch, WidestIsUniform) {
  FuzzSearch search(schedule_at({100'000}), Verdict::kPass, 1'000'000, 2);
  while (search.sigma() < 1'000'000) (void)search.next(1);
  int lower_half = 0, moved = 0;
  for (const Schedule& schedule : schedules(search, 4000)) {
    if (schedule.switches.size() != 1) continue;
    ++moved;
    lower_half += schedule.switches[0].clock.value <= 500'000;
  }
  ASSERT_GT(moved, 1500);
  EXPECT_NEAR(lower_half / double(moved), 0.5, 0.09);
}

TEST(FuzzSearch, StaysAtTheWidthAtWhichTheOutcomeChanged) {
  Schedule from;
  for (std::uint64_t i = 1; i <= 100; ++i) from.switches.push_back({{i * 100}, std::nullopt});
  FuzzSearch search(from, Verdict::kPass, 20'000, 1);
  const std::vector<JobPlan> jobs = search.next(40);
  JobReport report;
  report.verdict = Verdict::kFail;
  search.learn(jobs[0], report);
  EXPECT_FALSE(search.found());
  report.verdict = Verdict::kPass;
  search.learn(jobs[1], report);
  EXPECT_TRUE(search.found());
  const double sigma = search.sigma();
  (void)search.next(100);
  EXPECT_EQ(search.sigma(), sigma);
}

TEST(FuzzSearch, AnEmptyScheduleIsGivenSwitches) {
  FuzzSearch search(Schedule{}, Verdict::kFail, 1000, 1);
  std::size_t most = 0;
  for (const Schedule& schedule : schedules(search, 400)) {
    EXPECT_FALSE(schedule.switches.empty());
    EXPECT_TRUE(std::ranges::is_sorted(schedule.switches, {}, &Switch::clock));
    most = std::max(most, schedule.switches.size());
  }
  EXPECT_GT(most, 1u);
}

TEST(FuzzSearch, ATinyProgramIsExhausted) {
  FuzzSearch search(Schedule{}, Verdict::kFail, 1, 1);
  std::size_t jobs = 0;
  while (const std::size_t count = search.next(8).size()) ASSERT_LT(jobs += count, 100u);
  EXPECT_GT(jobs, 0u);
}

TEST(FuzzSearch, KeepsTheChoicesBeforeTheFirstChange) {
  Schedule from = schedule_at({500, 600});
  from.choices.push_back({{10}, 0, abi::ChoiceKind::kSpurious, std::nullopt});
  from.choices.push_back({{990}, 0, abi::ChoiceKind::kSpurious, std::nullopt});
  FuzzSearch search(from, Verdict::kPass, 1000, 1);
  std::array<int, 3> kept{};
  for (const Schedule& schedule : schedules(search, 40)) {  // sigma stays far below 490
    ASSERT_FALSE(schedule.choices.empty());
    EXPECT_EQ(schedule.choices[0], from.choices[0]);
    ++kept[schedule.choices.size()];
  }
  EXPECT_GT(kept[1], 5);
  EXPECT_GT(kept[2], 5);
}

// A simulated program that fails if a switch falls into a window (Choi and Zeller 2002, figure 6).
TEST(FuzzSearch, FindsANearbyPassingSchedule) {
  const auto fails = [](const Schedule& schedule) {
    return std::ranges::any_of(schedule.switches, [](const Switch& item) {
      return item.clock.value >= 995 && item.clock.value <= 1005;
    });
  };
  const Schedule from = schedule_at({200, 1000, 3000});
  ASSERT_TRUE(fails(from));
  FuzzSearch search(from, Verdict::kPass, 5000, 1);
  std::optional<Schedule> passing;
  int jobs = 0;
  for (; jobs < 200 && !passing; ++jobs) {
    const JobPlan job = search.next(1).at(0);
    const Schedule schedule = FuzzSearch::schedule_of(job);
    JobReport report;
    report.verdict = fails(schedule) ? Verdict::kFail : Verdict::kPass;
    search.learn(job, report);
    if (report.verdict == Verdict::kPass) passing = schedule;
  }
  ASSERT_TRUE(passing) << "after " << jobs;
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(passing->switches[i].clock.value),
                static_cast<double>(from.switches[i].clock.value), 40);
}

}  // namespace
}  // namespace clew
