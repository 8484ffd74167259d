#include "host/isolate/difference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "host/search/sampling.h"

namespace clew {
namespace {

using Kind = ScheduleDifference::Kind;
using In = ScheduleDifference::In;

Schedule schedule_of(const char* text) {
  Result<Schedule> schedule = parse_schedule(text);
  EXPECT_TRUE(schedule.has_value()) << text;
  return schedule ? *schedule : Schedule{};
}

std::string text_of(const std::optional<Schedule>& schedule) {
  return schedule ? format_schedule(*schedule) : "invalid";
}

// The example of section 4: figures 3 and 4.
ScheduleDifference int_queue() {
  return {schedule_of("6, 12"), {16}, schedule_of("5, 7, 8, 10, 15"), {16}};
}

TEST(ScheduleDifference, TheExampleHas24Changes) {
  const ScheduleDifference difference = int_queue();
  EXPECT_EQ(difference.sizes(), (Counts{1, 5, 9, 7, 2}));
  EXPECT_EQ(difference.total(), 24u);
  for (std::size_t i = 0; i < 5; ++i) {
    const ScheduleDifference::Group& group = difference.groups()[i];
    EXPECT_EQ(group.kind, Kind::kMove);
    EXPECT_EQ(group.index, i);
    EXPECT_EQ(group.in, i < 2 ? In::kBoth : In::kFailing);
  }
  EXPECT_EQ(difference.groups()[3].passing.clock.value, 17u);
  EXPECT_EQ(difference.groups()[3].failing.clock.value, 10u);
}

TEST(ScheduleDifference, Figure6) {
  const ScheduleDifference difference = int_queue();
  EXPECT_EQ(text_of(difference.apply({0, 0, 0, 0, 0})), "6, 12, 17, 17, 17");
  EXPECT_EQ(text_of(difference.apply({1, 5, 9, 7, 2})), "5, 7, 8, 10, 15");
  EXPECT_EQ(text_of(difference.apply({1, 5, 9, 0, 0})), "5, 7, 8, 17, 17");
  EXPECT_EQ(text_of(difference.apply({1, 5, 9, 7, 0})), "5, 7, 8, 10, 17");
  EXPECT_EQ(text_of(difference.apply({1, 5, 9, 4, 0})), "5, 7, 8, 13, 17");
  EXPECT_EQ(text_of(difference.apply({1, 5, 9, 6, 0})), "5, 7, 8, 11, 17");
  EXPECT_EQ(text_of(difference.apply({0, 5, 0, 0, 0})), "6, 7, 17, 17, 17");
  EXPECT_EQ(text_of(difference.apply({0, 0, 0, 0, 2})), "invalid");
}

TEST(ScheduleDifference, PaddingOfTheFailingSideLeavesTheRun) {
  const ScheduleDifference difference(schedule_of("3:T0.1, 9:T0.2"), {20}, schedule_of("4:T0.1"),
                                      {30});
  EXPECT_EQ(difference.sizes(), (Counts{1, 22}));
  EXPECT_EQ(difference.groups()[1].in, In::kPassing);
  EXPECT_EQ(text_of(difference.apply({1, 22})), "4:T0.1, 31:T0.2");
}

TEST(ScheduleDifference, PaddingComesAfterAllSwitches) {
  const ScheduleDifference difference(schedule_of("3, 50"), {20}, schedule_of("3, 10, 12"), {20});
  EXPECT_EQ(text_of(difference.apply({0, 0})), "3, 50, 50");
  EXPECT_EQ(text_of(difference.apply(difference.sizes())), "3, 10, 12");
  const ScheduleDifference last(Schedule{}, kMaxClock, schedule_of("1"), {5});
  EXPECT_EQ(last.groups().at(0).passing.clock, kMaxClock);
}

TEST(ScheduleDifference, ATargetChangesWithTheFirstMove) {
  const ScheduleDifference difference(schedule_of("3:T0.1, 9, 12:T0.3"), {20},
                                      schedule_of("5:T0.2, 9:T0.1, 12:T0.3, 15:T0.1"), {20});
  ASSERT_EQ(difference.sizes(), (Counts{2, 1, 6}));
  EXPECT_EQ(difference.groups()[0].kind, Kind::kMove);
  EXPECT_EQ(difference.groups()[1].kind, Kind::kTarget);
  EXPECT_EQ(difference.groups()[1].index, 1u);
  EXPECT_EQ(text_of(difference.apply({0, 0, 0})), "3:T0.1, 9, 12:T0.3, 21:T0.1");
  EXPECT_EQ(text_of(difference.apply({1, 1, 0})), "4:T0.2, 9:T0.1, 12:T0.3, 21:T0.1");
  EXPECT_EQ(text_of(difference.apply({2, 0, 6})), "5:T0.2, 9, 12:T0.3, 15:T0.1");
}

TEST(ScheduleDifference, ChoicesComeGoAndChange) {
  const ScheduleDifference difference(
      schedule_of("5/pick:T0.1, 7/spurious, 9, 9/1/wake:T0.1, 12/cas"), {20},
      schedule_of("5/pick:T0.2, 8, 9/wake:T0.1, 9/1/wake:T0.1, 12/trylock"), {20});
  ASSERT_EQ(difference.sizes(), (Counts{1, 1, 1, 1, 1}));
  const std::vector<ScheduleDifference::Group>& groups = difference.groups();
  EXPECT_EQ(groups[0].kind, Kind::kChoice);
  EXPECT_EQ(groups[0].in, In::kBoth);
  EXPECT_EQ(groups[1].in, In::kPassing);
  EXPECT_EQ(groups[1].index, 1u);
  EXPECT_EQ(groups[2].kind, Kind::kMove);
  EXPECT_EQ(groups[3].in, In::kFailing);
  EXPECT_FALSE(groups[3].passing_choice.has_value());
  EXPECT_EQ(groups[4].failing_choice->kind, abi::ChoiceKind::kTrylock);
  EXPECT_EQ(text_of(difference.apply({1, 1, 0, 1, 0})),
            "5/pick:T0.2, 9/wake:T0.1, 9/1/wake:T0.1, 9, 12/cas");
  EXPECT_EQ(text_of(difference.apply({0, 0, 1, 0, 1})),
            "5/pick:T0.1, 7/spurious, 8, 9/1/wake:T0.1, 12/trylock");
}

TEST(ScheduleDifference, EqualSchedulesDoNotDiffer) {
  const Schedule schedule = schedule_of("3:T0.1, 5/pick:T0.1, 9");
  const ScheduleDifference difference(schedule, {20}, schedule, {25});
  EXPECT_TRUE(difference.groups().empty());
  EXPECT_EQ(difference.total(), 0u);
  EXPECT_EQ(difference.apply({}), schedule);
}

TEST(ScheduleDifference, TotalMayExceed64Bits) {
  Schedule passing, failing;
  for (int i = 0; i < 16; ++i) {
    passing.switches.push_back({{1}, std::nullopt});
    failing.switches.push_back({kMaxClock, std::nullopt});
  }
  const ScheduleDifference difference(passing, kMaxClock, failing, kMaxClock);
  EXPECT_EQ(difference.total(), DeltaCount{16} * ((1ull << 61) - 2));  // 16 * (2^61 - 2)
}

std::optional<ThreadId> random_target(Random& random) {
  const auto ordinal = static_cast<std::uint32_t>(random.below(4));
  return ordinal == 0 ? std::nullopt : std::optional(ThreadId().child(ordinal));
}

Schedule random_schedule(Random& random, std::uint64_t end) {
  Schedule schedule;
  for (std::uint64_t count = random.below(12); count > 0; --count)
    schedule.switches.push_back({{1 + random.below(end)}, random_target(random)});
  std::ranges::sort(schedule.switches, {}, &Switch::clock);
  std::set<std::pair<std::uint64_t, std::uint64_t>> places;
  for (std::uint64_t count = random.below(8); count > 0; --count)
    places.emplace(1 + random.below(end), random.below(2));
  for (const auto& [clock, ordinal] : places) {
    Choice choice{{clock}, ordinal, static_cast<abi::ChoiceKind>(random.below(3))};
    if (abi::names_thread(choice.kind)) choice.thread = ThreadId().child(1);
    schedule.choices.push_back(choice);
  }
  return schedule;
}

// The same without padding.
Schedule stripped(Schedule schedule, std::size_t switches) {
  schedule.switches.resize(std::min(schedule.switches.size(), switches));
  return schedule;
}

bool is_valid(const Schedule& schedule) {
  const auto place = [](const Choice& choice) { return std::pair(choice.clock, choice.ordinal); };
  return std::ranges::is_sorted(schedule.switches, {}, &Switch::clock) &&
         std::ranges::adjacent_find(schedule.choices, std::ranges::greater_equal{}, place) ==
             schedule.choices.end();
}

TEST(ScheduleDifference, RandomSchedules) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t end = 1 + random.below(60);
    const Schedule passing = random_schedule(random, end);
    const Schedule failing = random_schedule(random, end);
    const ScheduleDifference difference(passing, {end}, failing, {end + random.below(5)});
    const Counts sizes = difference.sizes();
    const std::optional<Schedule> none = difference.apply(Counts(sizes.size(), 0));
    const std::optional<Schedule> all = difference.apply(sizes);
    ASSERT_TRUE(none && all);
    EXPECT_EQ(stripped(*none, passing.switches.size()), passing);
    EXPECT_EQ(stripped(*all, failing.switches.size()), failing);
    EXPECT_EQ(none->switches.size(), all->switches.size());

    // Some switch can always move on, so any walk over valid schedules gets there.
    Counts applied(sizes.size(), 0);
    for (int step = 0; applied != sizes; ++step) {
      ASSERT_LT(step, 5000);
      const std::size_t group = random.below(sizes.size());
      if (applied[group] == sizes[group]) continue;
      Counts next = applied;
      next[group] += 1 + random.below(sizes[group] - applied[group]);
      const std::optional<Schedule> schedule = difference.apply(next);
      if (!schedule) continue;
      EXPECT_TRUE(is_valid(*schedule));
      EXPECT_NE(schedule, difference.apply(applied));
      applied = next;
    }
  }
}

TEST(ScheduleDifference, GroupsThatAreAppliedDifferNoMore) {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const Schedule passing = random_schedule(random, 60);
    const Schedule failing = random_schedule(random, 60);
    const ScheduleDifference difference(passing, {60}, failing, {60});
    const Counts sizes = difference.sizes();
    Counts applied(sizes.size(), 0);
    for (std::size_t group = 0; group + 1 < sizes.size(); ++group) {
      applied[group] = sizes[group];
      const std::optional<Schedule> schedule = difference.apply(applied);
      if (!schedule) continue;
      const ScheduleDifference rest(*schedule, {60}, failing, {60});
      EXPECT_LE(rest.groups().size(), sizes.size() - group - 1);
    }
  }
}

}  // namespace
}  // namespace clew
