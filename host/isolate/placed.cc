#include "host/isolate/placed.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "host/isolate/effort.h"
#include "host/isolate/fewer.h"
#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

// Chosen, not measured: a few seconds of short runs.
constexpr std::size_t kMostSingle = 2'000;
constexpr std::size_t kMostPairs = 4'000;
constexpr std::uint64_t kLongestRun = 100'000;  // events

Result<std::optional<ThreadScript>> first_of(Trials& trials, std::vector<ThreadScript> scripts,
                                             double seconds) {
  CLEW_TRY(const auto found, first_failing(trials, scripts, seconds));
  if (!found) return std::nullopt;
  return std::move(scripts[*found]);
}

Result<std::vector<ScriptItem>> preemptions_under(Trials& trials, const ThreadScript& script) {
  JobPlan plan = job_of(script, abi::kJobWholeTrace);
  plan.window = {1, kLongestRun};
  CLEW_TRY(const auto runs, trials.run({&plan, 1}));
  if (runs.empty() || !runs.front().trace.complete) return std::vector<ScriptItem>{};
  return critical_preemptions(runs.front().trace.steps, kMostSingle);
}

}  // namespace

std::vector<ScriptItem> critical_preemptions(std::span<const TraceStep> trace, std::size_t most) {
  const std::vector<bool> matters = contended(trace);
  std::set<abi::ThreadKey> threads;
  for (const TraceStep& step : trace) threads.insert(step.thread);
  struct Site {
    std::uint64_t occurrence;  // of the place in its thread
    std::size_t position;
    bool operator<(const Site& other) const {
      return std::tie(occurrence, position) < std::tie(other.occurrence, other.position);
    }
  };
  std::vector<Site> sites;
  std::map<std::pair<abi::ThreadKey, abi::Place>, std::uint64_t> seen;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (matters[i]) sites.push_back({++seen[{trace[i].thread, trace[i].place}], i});
  std::ranges::sort(sites, [](const Site& a, const Site& b) { return a < b; });
  std::vector<ScriptItem> items;
  for (const Site& site : sites)
    for (const abi::ThreadKey to : threads) {
      const TraceStep& step = trace[site.position];
      if (to == step.thread) continue;
      if (items.size() == most) return items;
      items.push_back({step.thread, step.own, abi::kScriptPreemption, 0, to});
    }
  return items;
}

Result<std::optional<ThreadScript>> placed_elsewhere(Trials& trials, const ThreadScript& script) {
  if (script.size() < 2 || trials.failure().result.clock > kLongestRun) return std::nullopt;
  const double seconds = seconds_to_try(script.size());
  CLEW_TRY(std::vector<ScriptItem> items, preemptions_under(trials, script));
  CLEW_TRY(const auto without_switches, preemptions_under(trials, {}));
  for (const ScriptItem& item : without_switches)
    if (std::ranges::find(items, item) == items.end()) items.push_back(item);
  std::vector<ThreadScript> single;
  for (const ScriptItem& item : items) single.push_back({item});
  CLEW_TRY(auto one, first_of(trials, std::move(single), seconds));
  if (one || script.size() < 3 || trials.stopped()) return one;
  std::vector<ThreadScript> pairs;
  for (const ScriptItem& added : items)
    for (const ScriptItem& kept : script)
      if (pairs.size() < kMostPairs && !(added == kept)) pairs.push_back({kept, added});
  return first_of(trials, std::move(pairs), seconds);
}

}  // namespace clew
