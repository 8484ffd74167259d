#include "host/isolate/moved.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "host/isolate/effort.h"
#include "host/isolate/fewer.h"
#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

// Chosen, not measured: together about a second of short runs.
constexpr std::size_t kMostMoved = 4'000;
constexpr std::uint64_t kLongestRun = 100'000;  // events

using Places = std::map<abi::ThreadKey, std::vector<std::uint64_t>>;  // ascending

// Where each thread stands before a step whose order with those of others can matter.
Places places_of(std::span<const TraceStep> trace) {
  const std::vector<bool> matters = contended(trace);
  Places places;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    std::vector<std::uint64_t>& own = places[trace[i].thread];
    if (matters[i] && (own.empty() || own.back() != trace[i].own)) own.push_back(trace[i].own);
  }
  return places;
}

std::size_t position_of(const std::vector<std::uint64_t>& places, std::uint64_t own) {
  return static_cast<std::size_t>(std::ranges::lower_bound(places, own) - places.begin());
}

}  // namespace

std::vector<ThreadScript> moved(const ThreadScript& script, std::span<const TraceStep> trace,
                                std::size_t most) {
  const Places places = places_of(trace);
  struct Move {
    std::size_t distance;
    std::size_t left_out;
    std::size_t item;
    std::uint64_t own;
    auto operator<=>(const Move&) const = default;
  };
  std::vector<Move> moves;
  for (std::size_t item = 0; item < script.size(); ++item) {
    const auto there = places.find(script[item].thread);
    if (!is_preemption(script[item]) || there == places.end()) continue;
    const std::size_t from = position_of(there->second, script[item].own);
    for (std::size_t to = 0; to < there->second.size(); ++to) {
      const std::uint64_t own = there->second[to];
      const std::size_t distance = to > from ? to - from : from - to;
      for (std::size_t left_out = 0; left_out < script.size(); ++left_out)
        if (left_out != item && own != script[item].own)
          moves.push_back({distance, left_out, item, own});
    }
  }
  std::ranges::sort(moves);
  if (moves.size() > most) moves.resize(most);
  std::vector<ThreadScript> scripts;
  for (const Move& move : moves) {
    ThreadScript other = script;
    other[move.item].own = move.own;
    other[move.item].ordinal = 0;
    other.erase(other.begin() + static_cast<std::ptrdiff_t>(move.left_out));
    scripts.push_back(std::move(other));
  }
  return scripts;
}

Result<std::optional<ThreadScript>> one_fewer_by_moving(Trials& trials,
                                                        const ThreadScript& script) {
  if (script.size() < 2 || trials.failure().result.clock > kLongestRun) return std::nullopt;
  JobPlan plan = job_of(script, abi::kJobWholeTrace);
  plan.window = {1, kLongestRun};
  CLEW_TRY(const auto runs, trials.run({&plan, 1}));
  if (runs.empty() || !runs.front().trace.complete) return std::nullopt;
  std::vector<ThreadScript> scripts = moved(script, runs.front().trace.steps, kMostMoved);
  CLEW_TRY(const auto found, first_failing(trials, scripts, seconds_to_try(script.size())));
  if (!found) return std::nullopt;
  return std::move(scripts[*found]);
}

}  // namespace clew
