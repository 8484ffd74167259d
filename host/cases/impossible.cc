#include "host/cases/impossible.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/cases/matching.h"
#include "host/search/exhaustive.h"
#include "host/trace/lock_steps.h"

namespace clew {
namespace {

struct Held {
  std::uint64_t object = 0;
  std::size_t since = 0;  // the step that took it
};

// For each step the locks that its thread holds there.
std::vector<std::vector<Held>> locks_held(const LabRun& run) {
  Trace trace;
  trace.steps = run.steps;
  const std::vector<LockStep> attempts = lock_steps(trace);
  std::map<abi::ThreadKey, std::vector<Held>> now;
  std::vector<std::vector<Held>> result;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const TraceStep& step = run.steps[i];
    std::vector<Held>& mine = now[step.thread];
    result.push_back(mine);
    // Waiting on a condition variable gives up the lock; it is taken again by a step of its own.
    if (step.kind == abi::StepKind::kUnlock)
      std::erase_if(mine, [&](const Held& held) { return held.object == step.object; });
    if (step.kind == abi::StepKind::kWait) mine.clear();
    // One that may be shared with others orders nothing.
    if (step.kind == abi::StepKind::kLock &&
        (attempts[i] == LockStep::kObtained || attempts[i] == LockStep::kBlocked))
      mine.push_back({step.object, i});
  }
  return result;
}

Location location_of(const Survey& survey, const TracedRun& run, std::size_t step) {
  const SiteId id = run.sites[step];
  const Site& site = survey.sites()[id];
  return {site.file, site.line, site.function};
}

// A lock that one thread holds from `first` to `last` without a break and that is held at `other`.
std::optional<std::pair<Held, Held>> common_lock(const std::vector<std::vector<Held>>& held,
                                                 std::size_t first, std::size_t last,
                                                 std::size_t other) {
  for (const Held& mine : held[first])
    for (const Held& same : held[last])
      if (mine.object == same.object && mine.since == same.since)
        for (const Held& theirs : held[other])
          if (theirs.object == mine.object) return std::pair(mine, theirs);
  return std::nullopt;
}

// Whether in each run every choice of steps for a `between` is ordered by a lock.
NotPossible ordered_by_lock(const Case& one, std::size_t number, const EventSites& sites,
                            const Survey& survey) {
  Case alone = one;
  alone.orders = {one.orders[number]};
  const CaseOrder& order = alone.orders[0];
  NotPossible reason;
  bool free = false;
  for (const LabRun& run : survey.runs()) {
    const TracedRun traced = survey.traced(run);
    const auto held = locks_held(run);
    each_choice(alone, sites, traced, [&](const Match& match) {
      const auto at = [&](std::size_t i) { return match[order.events[i]]; };
      if (!at(0) || !at(1) || !at(2)) return !(free = true);
      const auto lock = common_lock(held, *at(0), *at(2), *at(1));
      if (!lock) return !(free = true);
      reason.why = NotPossible::Why::kMutex;
      reason.order = number;
      reason.lock = location_of(survey, traced, lock->first.since);
      reason.other_lock = location_of(survey, traced, lock->second.since);
      return true;
    });
    if (free) return {};
  }
  return reason;
}

// The step that creates the thread with this index, if the trace has all creations.
std::optional<std::size_t> creation_of(const LabRun& run, std::uint16_t index) {
  std::optional<std::size_t> found;
  std::uint16_t highest = 0;
  std::uint16_t creations = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    highest = std::max(highest, run.steps[i].index);
    if (run.steps[i].kind == abi::StepKind::kCreate && ++creations == index) found = i;
  }
  return creations == highest ? found : std::nullopt;
}

std::optional<std::size_t> joined_between(const LabRun& run, std::size_t early, std::size_t late) {
  for (std::size_t i = early + 1; i < late; ++i)
    if (run.steps[i].kind == abi::StepKind::kJoin &&
        run.steps[i].thread == run.steps[late].thread &&
        run.steps[i].object == run.steps[early].index)
      return i;
  return std::nullopt;
}

// Whether in all runs what is to come second cannot: its thread has been joined before the other
// event, or that one's thread is created behind it.
NotPossible ordered_by_life(const Case& one, std::size_t number, const EventSites& sites,
                            const Survey& survey) {
  Case alone = one;
  alone.orders = {one.orders[number]};
  const CaseOrder& order = alone.orders[0];
  const bool sees = order.kind == CaseOrder::Kind::kSees;
  const std::size_t wanted_first = order.events[sees ? 1 : 0];
  const std::size_t wanted_second = order.events[sees ? 0 : 1];
  NotPossible reason;
  bool free = false;
  for (const LabRun& run : survey.runs()) {
    const TracedRun traced = survey.traced(run);
    each_choice(alone, sites, traced, [&](const Match& match) {
      if (!match[wanted_first] || !match[wanted_second]) return !(free = true);
      const std::size_t late = *match[wanted_first];  // to come first, and comes late
      const std::size_t early = *match[wanted_second];
      if (late < early) return !(free = true);
      const auto join = joined_between(run, early, late);
      const auto creation = creation_of(run, run.steps[late].index);
      const bool created =
          creation && *creation > early && run.steps[*creation].thread == run.steps[early].thread;
      if (!join && !created) return !(free = true);
      reason.why = join ? NotPossible::Why::kJoined : NotPossible::Why::kCreated;
      reason.order = number;
      reason.lock = location_of(survey, traced, join ? *join : *creation);
      return true;
    });
    if (free) return {};
  }
  return reason;
}

// Tells whether all of it was executed.
class Whole final : public Search {
 public:
  // Schedules of small programs have far fewer preemptions.
  static constexpr std::uint32_t kNoBound = 10'000;
  explicit Whole(bool& all_pass) : all_pass_(all_pass), search_(kNoBound) {}
  std::vector<JobPlan> next(std::size_t most) override {
    auto plans = search_.next(most);
    all_pass_ = plans.empty() && search_.all_pass();
    return plans;
  }
  void learn(const JobPlan& plan, const JobReport& report) override { search_.learn(plan, report); }
  std::string using_now() const override { return search_.using_now(); }

 private:
  bool& all_pass_;
  ExhaustiveSearch search_;
};

}  // namespace

NotPossible reason_in_runs(const Case& one, const EventSites& sites, const Survey& survey) {
  for (std::size_t i = 0; i < one.orders.size(); ++i) {
    const NotPossible reason = one.orders[i].kind == CaseOrder::Kind::kBetween
                                   ? ordered_by_lock(one, i, sites, survey)
                                   : ordered_by_life(one, i, sites, survey);
    if (reason.why != NotPossible::Why::kNone) return reason;
  }
  return {};
}

Result<NotPossible> reason_by_exhaustion(const Case& one, const EventSites& sites, Survey& survey,
                                         std::uint64_t most, Tally& tally) {
  bool all_pass = false;
  bool seen = false;
  std::uint64_t runs = 0;
  CLEW_CHECK_OK(survey.lab().run(std::make_unique<Whole>(all_pass), most, [&](LabRun&& run) {
    ++runs;
    ++tally.runs;
    const bool failed = run.verdict == Verdict::kFail;
    if (find_match(one, sites, survey.traced(run))) {
      seen = true;
      ++tally.with_order;
      tally.failed += failed;
      auto& kept = failed ? tally.failing : tally.passing;
      if (!kept) kept = std::move(run);
    } else if (failed) {
      ++tally.failed_otherwise;
      if (!tally.failing_otherwise) tally.failing_otherwise = std::move(run);
    }
    return !failed && !seen && !survey.lab().time_is_up();
  }));
  NotPossible reason;
  if (!all_pass || seen) return reason;
  reason.why = NotPossible::Why::kExhausted;
  reason.schedules = runs;
  return reason;
}

}  // namespace clew
