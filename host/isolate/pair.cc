#include "host/isolate/pair.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace clew {
namespace {

// By insertion, since nearly all are in order; equal ones stay as they are.
template <class Item, class Key>
void put_in_order(std::vector<Item>& items, Key key) {
  for (auto at = items.begin(); at != items.end(); ++at)
    std::rotate(std::ranges::upper_bound(items.begin(), at, key(*at), {}, key), at, at + 1);
}

}  // namespace

Schedule flipped(const Schedule& failing, const Trace& trace, const EventPair& pair,
                 const ThreadId& first, const ThreadId& second) {
  // How many events the second thread is away from its own when the first comes.
  std::uint64_t stands_before = pair.second.own;
  for_each_in_order(
      trace,
      [&](const TraceStep& step) {
        if (step.clock >= pair.first.clock) return false;
        if (step.thread == pair.second.thread) stands_before = step.own + 1;
        return true;
      },
      [&](const TraceDecision& decision) {
        if (decision.clock > pair.first.clock) return false;
        if (decision.thread == pair.second.thread) stands_before = decision.own;
        return true;
      });
  const std::uint64_t events = pair.second.own + 1 - std::min(stands_before, pair.second.own);
  return flipped(failing, {pair.first.clock, pair.second.clock, events}, first, second);
}

Schedule flipped(const Schedule& failing, const Flip& flip, const ThreadId& first,
                 const ThreadId& second) {
  const auto later = [&](Clock clock) {
    const bool between = clock.value > flip.first_clock &&
                         (flip.second_clock == 0 || clock.value <= flip.second_clock);
    return between ? Clock{clock.value + flip.events} : clock;
  };
  Schedule schedule;
  const Switch there{{flip.first_clock}, second};
  const Switch back{{flip.first_clock + flip.events}, first};
  bool inserted = false;
  const auto insert = [&] {
    if (!inserted) schedule.switches.insert(schedule.switches.end(), {there, back});
    inserted = true;
  };
  for (const Switch& item : failing.switches) {
    if (item.clock.value > flip.first_clock) insert();
    schedule.switches.push_back({later(item.clock), item.to});
  }
  insert();
  for (Choice choice : failing.choices) {
    choice.clock = later(choice.clock);
    schedule.choices.push_back(choice);
  }
  // Of what was put off, some may now come behind what was not.
  put_in_order(schedule.switches, [](const Switch& item) { return item.clock; });
  put_in_order(schedule.choices, [](const Choice& c) { return std::pair(c.clock, c.ordinal); });
  const auto same = [](const Choice& a, const Choice& b) {
    return a.clock == b.clock && a.ordinal == b.ordinal;
  };
  const auto repeated = std::ranges::unique(schedule.choices, same);
  schedule.choices.erase(repeated.begin(), repeated.end());
  return schedule;
}

}  // namespace clew
