#include "host/isolate/pair.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace clew {
namespace {

using abi::StepKind;
using abi::TraceEvent;

constexpr std::uint64_t kWord = 8;
// Of an event, those before it that touch the same, the nearest. Chosen, not measured, as are the
// numbers below: they bound the work for a trace.
constexpr std::size_t kLookBack = 32;
// What a thread would have done next, had the failing run continued; what comes after is not known.
constexpr std::size_t kMostAhead = 16;
// A large copy is found by its first words.
constexpr std::uint64_t kMostWords = 64;

bool is_event(const TraceEvent& event) {
  // Releasing a lock decides nothing: taking it does.
  return event.object != 0 && event.kind != StepKind::kOther && event.kind != StepKind::kDecision &&
         event.kind != StepKind::kUnlock;
}

bool conflict(const TraceEvent& a, const TraceEvent& b) {
  if (a.thread == b.thread) return false;
  if (a.kind == StepKind::kRead && b.kind == StepKind::kRead) return false;
  const std::uint64_t a_size = std::max<std::uint32_t>(a.size, 1);
  const std::uint64_t b_size = std::max<std::uint32_t>(b.size, 1);
  return a.object < b.object + b_size && b.object < a.object + a_size;
}

struct Name {
  abi::ThreadKey thread;
  std::uint64_t own;
  bool operator==(const Name&) const = default;
};
struct NameHash {
  std::size_t operator()(const Name& name) const {
    return name.thread ^ name.own * 0x9e3779b97f4a7c15;
  }
};
using Positions = std::unordered_map<Name, std::size_t, NameHash>;

Name name_of(const TraceEvent& event) { return {event.thread, event.own}; }

Positions positions_of(std::span<const TraceEvent> trace) {
  Positions positions;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (is_event(trace[i])) positions.emplace(name_of(trace[i]), i);
  return positions;
}

// The failing run's events and, behind them, what its threads stood before when it ended, as far as
// the passing run shows it.
std::vector<TraceEvent> with_what_was_to_come(std::span<const TraceEvent> failing,
                                              std::span<const TraceEvent> passing) {
  std::vector<TraceEvent> events;
  struct Last {
    std::uint64_t own = 0;
    bool stands = true;  // before its next event, as far as can be told: it has not ended
  };
  std::unordered_map<abi::ThreadKey, Last> last;
  for (const TraceEvent& event : failing) {
    if (is_event(event)) events.push_back(event);
    const bool decision = event.kind == StepKind::kDecision;
    last[event.thread] = {decision ? event.own - 1 : event.own,
                          decision || event.kind == StepKind::kLock ||
                              event.kind == StepKind::kWait || event.kind == StepKind::kJoin};
  }
  std::unordered_map<abi::ThreadKey, std::size_t> ahead;
  for (TraceEvent event : passing) {
    if (!is_event(event)) continue;
    const auto known = last.find(event.thread);
    if (known != last.end() && (event.own <= known->second.own || !known->second.stands)) continue;
    if (++ahead[event.thread] > kMostAhead) continue;
    event.clock = 0;
    events.push_back(event);
  }
  return events;
}

// By insertion, since nearly all are in order; equal ones stay as they are.
template <class Item, class Key>
void put_in_order(std::vector<Item>& items, Key key) {
  for (auto at = items.begin(); at != items.end(); ++at)
    std::rotate(std::ranges::upper_bound(items.begin(), at, key(*at), {}, key), at, at + 1);
}

}  // namespace

std::vector<EventPair> flipped_pairs(std::span<const TraceEvent> failing,
                                     std::span<const TraceEvent> passing, std::size_t most) {
  const std::vector<TraceEvent> events = with_what_was_to_come(failing, passing);
  const Positions in_passing = positions_of(passing);
  const auto position = [&](const TraceEvent& event) -> std::optional<std::size_t> {
    const auto found = in_passing.find(name_of(event));
    if (found == in_passing.end() || passing[found->second].place != event.place ||
        passing[found->second].object != event.object)
      return std::nullopt;
    return found->second;
  };
  // Of each word, the reads and the rest: among reads nothing conflicts.
  struct Touched {
    std::vector<std::size_t> reads;
    std::vector<std::size_t> others;
  };
  std::unordered_map<std::uint64_t, Touched> of_word;
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& event = events[i];
    const bool reads = event.kind == StepKind::kRead;
    const std::uint64_t first = event.object / kWord;
    const std::uint64_t words =
        std::min((event.object + std::max<std::uint32_t>(event.size, 1) - 1) / kWord - first + 1,
                 kMostWords);
    const auto here = position(event);
    const auto look_back = [&](const std::vector<std::size_t>& earlier) {
      const std::size_t end = earlier.size() > kLookBack ? earlier.size() - kLookBack : 0;
      for (std::size_t at = earlier.size(); at-- > end;) {
        const TraceEvent& other = events[earlier[at]];
        // What did not happen has no order among itself.
        if (other.clock == 0 || !conflict(other, event)) continue;
        const auto there = position(other);
        if (there && *here < *there) found.emplace_back(earlier[at], i);
      }
    };
    for (std::uint64_t word = first; word < first + words; ++word) {
      Touched& touched = of_word[word];
      if (here) look_back(touched.others);
      if (here && !reads) look_back(touched.reads);
      (reads ? touched.reads : touched.others).push_back(i);
    }
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  std::vector<EventPair> pairs;
  for (const auto& [first, second] : found) {
    if (pairs.size() == most) break;
    pairs.push_back({events[first], events[second]});
  }
  return pairs;
}

std::optional<EventPair> guarded_pair(std::span<const TraceEvent> failing,
                                      std::span<const TraceEvent> passing,
                                      std::span<const EventPair> pairs, const EventPair& locks) {
  if (locks.first.kind != StepKind::kLock || locks.second.kind != StepKind::kLock)
    return std::nullopt;
  // The thread's own number of its next unlock.
  const auto section_end = [&](const TraceEvent& lock) {
    for (const auto& trace : {failing, passing})
      for (const TraceEvent& event : trace)
        if (event.thread == lock.thread && event.own > lock.own &&
            (event.kind == StepKind::kUnlock || event.kind == StepKind::kWait) &&
            (event.object == lock.object || event.kind == StepKind::kWait))
          return event.own;
    return ~std::uint64_t{0};
  };
  const std::uint64_t first_end = section_end(locks.first);
  const std::uint64_t second_end = section_end(locks.second);
  for (const EventPair& pair : pairs)
    if (pair.first.thread == locks.first.thread && pair.second.thread == locks.second.thread &&
        abi::is_access(pair.first.kind) && abi::is_access(pair.second.kind) &&
        pair.first.own > locks.first.own && pair.first.own < first_end &&
        pair.second.own > locks.second.own && pair.second.own < second_end)
      return pair;
  return std::nullopt;
}

Schedule flipped(const Schedule& failing, std::span<const TraceEvent> trace, const EventPair& pair,
                 const ThreadId& first, const ThreadId& second) {
  // How many events the second thread is away from its own when the first comes.
  std::uint64_t stands_before = pair.second.own;
  for (const TraceEvent& event : trace) {
    if (event.clock >= pair.first.clock && event.kind != StepKind::kDecision) break;
    if (event.clock > pair.first.clock) break;
    if (event.thread == pair.second.thread)
      stands_before = event.kind == StepKind::kDecision ? event.own : event.own + 1;
  }
  const std::uint64_t events = pair.second.own + 1 - std::min(stands_before, pair.second.own);
  const auto later = [&](Clock clock) {
    const bool between = clock.value > pair.first.clock &&
                         (pair.second.clock == 0 || clock.value <= pair.second.clock);
    return between ? Clock{clock.value + events} : clock;
  };
  Schedule schedule;
  const Switch there{{pair.first.clock}, second};
  const Switch back{{pair.first.clock + events}, first};
  bool inserted = false;
  const auto insert = [&] {
    if (!inserted) schedule.switches.insert(schedule.switches.end(), {there, back});
    inserted = true;
  };
  for (const Switch& item : failing.switches) {
    if (item.clock.value > pair.first.clock) insert();
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
