#include "host/isolate/difference.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace clew {

namespace {

using Group = ScheduleDifference::Group;
using Kind = ScheduleDifference::Kind;
using In = ScheduleDifference::In;

// The switches with as many as `like` has. A schedule may extend beyond the end of its run, and
// padding must not come before that.
std::vector<Switch> padded(const std::vector<Switch>& switches, Clock end,
                           const std::vector<Switch>& like) {
  Clock clock{std::min(end.value, kMaxClock.value - 1) + 1};
  if (!switches.empty()) clock = std::max(clock, switches.back().clock);
  std::vector<Switch> all = switches;
  for (std::size_t i = all.size(); i < like.size(); ++i) all.push_back({clock, like[i].to});
  return all;
}

// The order of groups().
auto place(const Group& group) {
  if (group.kind != Kind::kChoice)
    return std::tuple(group.failing.clock, true, group.index, group.kind);
  const Choice& choice = group.failing_choice ? *group.failing_choice : *group.passing_choice;
  return std::tuple(choice.clock, false, group.index, group.kind);
}

}  // namespace

void ScheduleDifference::compare_choices(const std::vector<Choice>& passing,
                                         const std::vector<Choice>& failing) {
  const auto key = [](const Choice& choice) { return std::pair(choice.clock, choice.ordinal); };
  auto left = passing.begin();
  auto right = failing.begin();
  while (left != passing.end() || right != failing.end()) {
    ChoicePair pair;
    const bool at_left =
        right == failing.end() || (left != passing.end() && key(*left) <= key(*right));
    const bool at_right =
        left == passing.end() || (right != failing.end() && key(*right) <= key(*left));
    if (at_left) pair.passing = *left++;
    if (at_right) pair.failing = *right++;
    if (pair.passing != pair.failing)
      groups_.push_back({.kind = Kind::kChoice,
                         .in = !at_left    ? In::kFailing
                               : !at_right ? In::kPassing
                                           : In::kBoth,
                         .size = 1,
                         .index = choices_.size(),
                         .passing_choice = pair.passing,
                         .failing_choice = pair.failing});
    choices_.push_back(std::move(pair));
  }
}

ScheduleDifference::ScheduleDifference(const Schedule& passing, Clock passing_end,
                                       const Schedule& failing, Clock failing_end)
    : switches_(padded(passing.switches, passing_end, failing.switches)) {
  const std::vector<Switch> failing_switches =
      padded(failing.switches, failing_end, passing.switches);
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    const Switch &from = switches_[i], &to = failing_switches[i];
    Group group{.kind = Kind::kMove, .index = i, .passing = from, .failing = to};
    if (i >= passing.switches.size())
      group.in = In::kFailing;
    else if (i >= failing.switches.size())
      group.in = In::kPassing;
    group.size = std::max(from.clock, to.clock).value - std::min(from.clock, to.clock).value;
    if (group.size == 0 && from.to != to.to) {
      group.kind = Kind::kTarget;
      group.size = 1;
    }
    if (group.size > 0) groups_.push_back(std::move(group));
  }
  compare_choices(passing.choices, failing.choices);
  std::ranges::sort(groups_, {}, place);
}

Counts ScheduleDifference::sizes() const {
  Counts sizes;
  sizes.reserve(groups_.size());
  for (const Group& group : groups_) sizes.push_back(group.size);
  return sizes;
}

DeltaCount ScheduleDifference::total() const {
  DeltaCount total = 0;
  for (const Group& group : groups_) total += group.size;
  return total;
}

std::optional<Schedule> ScheduleDifference::apply(const Counts& applied) const {
  Schedule schedule{.switches = switches_};
  std::vector<bool> chosen(choices_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (applied[i] == 0) continue;
    if (group.kind == Kind::kChoice) {
      chosen[group.index] = true;
      continue;
    }
    Switch& changed = schedule.switches[group.index];
    changed.to = group.failing.to;
    if (group.kind == Kind::kTarget) continue;
    std::uint64_t& clock = changed.clock.value;
    clock = group.passing.clock < group.failing.clock ? clock + applied[i] : clock - applied[i];
  }
  if (!std::ranges::is_sorted(schedule.switches, {}, &Switch::clock)) return std::nullopt;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const std::optional<Choice>& choice = chosen[i] ? choices_[i].failing : choices_[i].passing;
    if (choice) schedule.choices.push_back(*choice);
  }
  return schedule;
}

}  // namespace clew
