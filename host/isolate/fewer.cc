#include "host/isolate/fewer.h"

#include <algorithm>
#include <utility>

#include "host/isolate/effort.h"
#include "host/search/exhaustive.h"
#include "host/search/sampling.h"
#include "host/search/target_search.h"
#include "host/seconds.h"

namespace clew {
namespace {

constexpr std::uint8_t kPick = 1 + static_cast<std::uint8_t>(abi::ChoiceKind::kPick);
// In a program with more threads only those that the script names, and the first, are tried.
// The limits here are chosen, not measured: together they keep the search within seconds.
constexpr std::uint32_t kFewThreads = 6;
constexpr std::size_t kMostRecombined = 1500;
constexpr std::size_t kRound = 64;
constexpr std::size_t kMostAtOnce = 2;
constexpr std::size_t kMostRandom = 500;
constexpr std::size_t kMostDirected = 256;
constexpr std::size_t kMostConverted = 16;
// The search of all schedules.
constexpr std::uint64_t kMostRuns = 4'000;
constexpr std::uint64_t kLongestRun = 100'000;  // events

void add(std::vector<abi::ThreadKey>& threads, abi::ThreadKey thread) {
  if (thread != 0 && std::ranges::find(threads, thread) == threads.end()) threads.push_back(thread);
}

std::vector<abi::ThreadKey> threads_of(const ThreadScript& script, std::uint32_t count) {
  std::vector<abi::ThreadKey> threads;
  for (const ScriptItem& item : script) {
    add(threads, item.thread);
    add(threads, item.to);
  }
  // The children of main, which most threads are.
  const std::uint32_t children = count <= kFewThreads ? count : 2;
  for (std::uint32_t i = 1; i < children; ++i) add(threads, abi::child_key(abi::kMainThreadKey, i));
  return threads;
}

// Scripts with one preemption at a place drawn at random.
void add_random(std::vector<ThreadScript>& scripts, const ThreadScript& script,
                const abi::JobResult& failure, std::size_t count) {
  const std::vector<abi::ThreadKey> known = threads_of(script, failure.threads);
  const std::uint64_t longest = std::max<std::uint64_t>(1, failure.clock);
  Random random(failure.hash);
  for (std::size_t i = 0; i < count && known.size() > 1; ++i) {
    const std::size_t from = random.below(known.size());
    const std::size_t to = (from + 1 + random.below(known.size() - 1)) % known.size();
    scripts.push_back({{known[from], 1 + random.below(longest), 0, 0, known[to]}});
  }
}

// What threads were seen to do says where one preemption could matter (target_search.h).
Result<std::optional<ThreadScript>> directed_preemptions(Trials& trials, std::size_t fewer_than,
                                                         double seconds,
                                                         const ToScript& to_script) {
  const double until = seconds_now() + seconds;
  JobPlan plain;
  plain.strategy = abi::StrategyKind::kPlan;
  plain.flags = abi::kJobTrace | abi::kJobAllPoints;
  CLEW_TRY(auto seen, trials.run({&plain, 1}));
  if (seen.empty()) return std::nullopt;
  TargetSearch search(1);
  search.learn(plain, {seen.front().result, Verdict::kPass, true, std::move(seen.front().trace)});
  std::size_t converted = 0;
  for (std::size_t done = 0;
       done < kMostDirected && search.untried() > 0 && seconds_now() < until;) {
    std::vector<JobPlan> plans = search.next(std::min(kRound, search.untried()));
    for (JobPlan& plan : plans) plan.flags |= abi::kJobAllPoints;
    CLEW_TRY(const auto runs, trials.run(plans));
    if (runs.empty() || plans.empty()) return std::nullopt;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].verdict != Verdict::kFail || converted++ >= kMostConverted) continue;
      CLEW_TRY(auto script, to_script(plans[i]));
      if (script && preemptions_of(*script) < fewer_than) return script;
    }
    done += plans.size();
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::size_t>> first_failing(Trials& trials,
                                                 const std::vector<ThreadScript>& scripts,
                                                 double seconds) {
  const double until = seconds_now() + seconds;
  for (std::size_t begin = 0; begin < scripts.size() && seconds_now() < until; begin += kRound) {
    std::vector<JobPlan> plans;
    for (std::size_t i = begin; i < std::min(begin + kRound, scripts.size()); ++i)
      plans.push_back(job_of(scripts[i]));
    CLEW_TRY(const auto runs, trials.run(plans));
    if (runs.empty()) break;
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (runs[i].verdict == Verdict::kFail) return begin + i;
  }
  return std::nullopt;
}

std::vector<ThreadScript> recombined(const ThreadScript& script, std::size_t count,
                                     std::uint32_t threads, std::size_t most) {
  const std::vector<abi::ThreadKey> known = threads_of(script, threads);
  std::vector<ScriptItem> items;
  for (const ScriptItem& item : script) {
    if (!is_preemption(item)) continue;
    for (const abi::ThreadKey thread : known)
      for (const abi::ThreadKey to : known)
        if (thread != to && (thread == item.thread || thread != abi::kMainThreadKey)) {
          const ScriptItem other{thread, item.own, 0, 0, to};
          if (std::ranges::find(items, other) == items.end()) items.push_back(other);
        }
  }
  std::vector<ThreadScript> scripts;
  std::vector<std::size_t> chosen;
  const auto extend = [&](const auto& self, std::size_t from) -> void {
    if (scripts.size() >= most) return;
    if (chosen.size() == count) {
      ThreadScript one;
      for (const std::size_t at : chosen) one.push_back(items[at]);
      scripts.push_back(std::move(one));
      return;
    }
    for (std::size_t i = from; i < items.size(); ++i) {
      chosen.push_back(i);
      self(self, i + 1);
      chosen.pop_back();
    }
  };
  extend(extend, 0);
  return scripts;
}

Result<std::optional<ThreadScript>> first_with(Trials& trials, Verdict verdict, std::size_t count,
                                               const MakeScript& make) {
  for (std::size_t next = 0; next < count;) {
    std::vector<ThreadScript> scripts;
    std::vector<JobPlan> plans;
    for (; next < count && scripts.size() < kRound; ++next) {
      auto script = make(next);
      if (!script) continue;
      plans.push_back(job_of(*script));
      scripts.push_back(std::move(*script));
    }
    CLEW_TRY(const auto runs, trials.run(plans));
    if (runs.size() < plans.size()) break;
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (runs[i].verdict == verdict) return std::move(scripts[i]);
  }
  return std::nullopt;
}

Result<ThreadScript> with_waits(Trials& trials, ThreadScript script) {
  const auto waiting = [&](std::size_t i) -> std::optional<ThreadScript> {
    if (!is_preemption(script[i])) return std::nullopt;
    ThreadScript other = script;
    other[i] = {script[i].thread, script[i].own + 1, kPick, 0, script[i].to};
    return other;
  };
  CLEW_TRY(auto found, first_with(trials, Verdict::kFail, script.size(), waiting));
  if (found) return with_waits(trials, std::move(*found));
  return script;
}

Result<Fewer> look_for_fewer(Trials& trials, const ThreadScript& script,
                             const ToScript& to_script) {
  const std::size_t preemptions = preemptions_of(script);
  if (preemptions == 0) return Fewer{};
  const double seconds = seconds_to_try(script.size());
  const std::uint32_t threads = trials.failure().result.threads;
  const std::size_t most = std::min<std::size_t>(preemptions - 1, kMostAtOnce);
  for (std::size_t count = 1; count <= most && !trials.has_checkpoints(); ++count) {
    std::vector<ThreadScript> scripts = recombined(script, count, threads, kMostRecombined);
    // In a program that does the same again and again nearly any place may do.
    if (count == 1) add_random(scripts, script, trials.failure().result, kMostRandom);
    CLEW_TRY(const auto found, first_failing(trials, scripts, seconds));
    if (found) return Fewer{std::move(scripts[*found]), false};
  }
  if (trials.failure().result.clock > kLongestRun) return Fewer{};
  if (preemptions > 1) {
    CLEW_TRY(auto directed, directed_preemptions(trials, preemptions, seconds, to_script));
    if (directed) return Fewer{std::move(*directed), false};
  }
  ExhaustiveSearch search(static_cast<std::uint32_t>(preemptions - 1));
  const double until = seconds_now() + seconds;
  for (std::uint64_t done = 0; done < kMostRuns && seconds_now() < until;) {
    const std::vector<JobPlan> plans = search.next(kRound);
    if (plans.empty()) return Fewer{std::nullopt, search.all_pass()};
    CLEW_TRY(auto runs, trials.run(plans));
    if (runs.empty()) return Fewer{};
    // To learn from a long run takes longer than to make it.
    for (std::size_t i = 0; i < plans.size() && seconds_now() < until; ++i) {
      TrialRun& run = runs[i];
      if (run.verdict == Verdict::kFail) {
        CLEW_TRY(auto found, to_script(plans[i]));
        if (found && preemptions_of(*found) < preemptions) return Fewer{std::move(*found), false};
      }
      const Verdict verdict = run.judgement.verdict == Verdict::kPass ? Verdict::kPass
                              : run.verdict == Verdict::kFail         ? Verdict::kFail
                                                                      : Verdict::kUnresolved;
      search.learn(plans[i], {run.result, verdict, false, std::move(run.trace)});
    }
    done += plans.size();
  }
  return Fewer{};
}

}  // namespace clew
