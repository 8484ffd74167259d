#include "host/trace/flipped_pairs.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "host/trace/overlap.h"

namespace clew {
namespace {

using abi::StepKind;

constexpr std::uint64_t kWord = 8;
// Of an event, those before it that touch the same, the nearest. Chosen, not measured, as are the
// numbers below: they bound the work for a trace.
constexpr std::size_t kLookBack = 32;
// What a thread would have done next, had the failing run gone on: beyond, nobody knows.
constexpr std::size_t kMostAhead = 16;
// What touches more is not looked up by its words, but compared with every event.
constexpr std::uint64_t kMostWords = 64;

bool is_event(const TraceStep& event) {
  // Releasing a lock decides nothing: taking it does.
  return event.object != 0 && event.kind != StepKind::kOther && event.kind != StepKind::kUnlock;
}

bool conflict(const TraceStep& a, const TraceStep& b) {
  if (a.thread == b.thread) return false;
  if (a.kind == StepKind::kRead && b.kind == StepKind::kRead) return false;
  return overlap(a, b);
}

// An event by what it is in both runs: its thread's n-th passage of a place since they parted. Not
// the thread's n-th event: a lock that one run finds taken costs it another event.
struct Name {
  abi::ThreadKey thread;
  abi::Place place;
  std::uint64_t time;  // from 1
  bool operator==(const Name&) const = default;
};
struct NameHash {
  std::size_t operator()(const Name& name) const {
    return (name.thread ^ name.place * 0x9e3779b97f4a7c15) + name.time * 0x85ebca6b;
  }
};
using Positions = std::unordered_map<Name, std::size_t, NameHash>;

class Namer {
 public:
  Name operator()(const TraceStep& event) {
    return {event.thread, event.place, ++times_[{event.thread, event.place, 0}]};
  }

 private:
  std::unordered_map<Name, std::uint64_t, NameHash> times_;
};

Positions positions_of(std::span<const TraceStep> trace) {
  Positions positions;
  Namer name;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (is_event(trace[i])) positions.emplace(name(trace[i]), i);
  return positions;
}

// The failing run's events and, behind them, what its threads stood before when it ended, as far as
// the passing run shows it.
std::vector<TraceStep> with_what_was_to_come(const Trace& failing,
                                             std::span<const TraceStep> passing) {
  std::vector<TraceStep> events;
  struct Last {
    std::uint64_t own = 0;
    bool stands = true;  // before its next event, as far as can be told: it has not ended
  };
  std::unordered_map<abi::ThreadKey, Last> last;
  for_each_in_order(
      failing,
      [&](const TraceStep& event) {
        if (is_event(event)) events.push_back(event);
        last[event.thread] = {event.own, event.kind == StepKind::kLock ||
                                             event.kind == StepKind::kWait ||
                                             event.kind == StepKind::kJoin};
        return true;
      },
      [&](const TraceDecision& decision) {
        last[decision.thread] = {decision.own - 1, true};
        return true;
      });
  const Positions done = positions_of(failing.steps);
  std::unordered_map<abi::ThreadKey, std::size_t> ahead;
  Namer name;
  for (TraceStep event : passing) {
    if (!is_event(event) || done.contains(name(event))) continue;
    const auto known = last.find(event.thread);
    if (known != last.end() && (event.own <= known->second.own || !known->second.stands)) continue;
    if (++ahead[event.thread] > kMostAhead) continue;
    event.clock = 0;
    events.push_back(event);
  }
  return events;
}

}  // namespace

std::vector<EventPair> flipped_pairs(const Trace& failing, const Trace& passing, std::size_t most) {
  const std::vector<TraceStep> events = with_what_was_to_come(failing, passing.steps);
  const Positions in_passing = positions_of(passing.steps);
  std::vector<std::optional<std::size_t>> positions;
  Namer name;
  for (const TraceStep& event : events) {
    const auto found = in_passing.find(name(event));
    const bool same =
        found != in_passing.end() && passing.steps[found->second].object == event.object;
    positions.push_back(same ? std::optional(found->second) : std::nullopt);
  }
  // Of each word, the reads and the rest: among reads nothing conflicts.
  struct Touched {
    std::vector<std::size_t> reads;
    std::vector<std::size_t> others;
  };
  std::unordered_map<std::uint64_t, Touched> of_word;
  std::vector<std::size_t> wide;  // events that touch more than kMostWords, and ...
  std::vector<std::size_t> all;   // ... what came before them
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceStep& event = events[i];
    const bool reads = event.kind == StepKind::kRead;
    const std::uint64_t first = event.object / kWord;
    const std::uint64_t words =
        (event.object + std::max<std::uint32_t>(event.size, 1) - 1) / kWord - first + 1;
    const auto here = positions[i];
    const auto look_back = [&](const std::vector<std::size_t>& earlier) {
      const std::size_t end = earlier.size() > kLookBack ? earlier.size() - kLookBack : 0;
      for (std::size_t at = earlier.size(); at-- > end;) {
        const TraceStep& other = events[earlier[at]];
        // What did not happen has no order among itself.
        if (other.clock == 0 || !conflict(other, event)) continue;
        const auto there = positions[earlier[at]];
        if (there && *here < *there) found.emplace_back(earlier[at], i);
      }
    };
    if (here) look_back(wide);
    if (words > kMostWords) {
      if (here) look_back(all);
      wide.push_back(i);
    }
    all.push_back(i);
    for (std::uint64_t word = first; word < first + words && words <= kMostWords; ++word) {
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
    pairs.push_back({events[first], events[second], passing.steps[*positions[first]].clock,
                     passing.steps[*positions[second]].clock});
  }
  return pairs;
}

std::optional<EventPair> guarded_pair(const Trace& failing, const Trace& passing,
                                      std::span<const EventPair> pairs, const EventPair& locks) {
  if (locks.first.kind != StepKind::kLock || locks.second.kind != StepKind::kLock)
    return std::nullopt;
  // The thread's own number of its next unlock.
  const auto section_end = [&](const TraceStep& lock) {
    for (const Trace* trace : {&failing, &passing})
      for (const TraceStep& event : trace->steps)
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

}  // namespace clew
