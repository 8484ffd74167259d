// What a run came to, and what becomes of one that fails.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/search/hunt_state.h"
#include "host/timer_signals.h"

namespace clew {
namespace {

// Different keys may stand for the same failure; finding out costs a run.
constexpr std::size_t kMostKeys = 200;
// Chosen, not measured: a run that is only slow ends within so many times its budget.
constexpr std::uint64_t kLongerBudget = 200;
constexpr double kSecondsForSlow = 20;    // to find out which of the two, without --time
constexpr double kSecondsToRecord = 120;  // a failing run, without --time

}  // namespace

Result<Judgement> Hunt::judge(const RanJob& ran) {
  if (ran.job.stopped) {
    if (ran.job.stopped->kind == FailureKind::kHang)
      return Judgement{Verdict::kFail, FailureKind::kHang, ran.job.stopped->detail};
    add_note(ran.job.stopped->detail);
    return Judgement{Verdict::kUnresolved, ran.job.stopped->kind, ran.job.stopped->detail};
  }
  const abi::JobResult& result = ran.job.result;
  return judge_.judge({result.end, result.status, result.failure, ran.output, ran.errors});
}

std::uint64_t Hunt::key_of(const RanJob& ran, const Judgement& judgement) {
  const abi::JobResult& result = ran.job.result;
  const bool anywhere = judgement.kind == FailureKind::kSignal && is_sent_by_timer(result.status);
  std::uint64_t key = anywhere ? static_cast<std::uint64_t>(result.status) : result.failure_key;
  for (const char c : std::string_view(to_word(*judgement.kind)))
    key = key * 31 + static_cast<unsigned char>(c);
  return key;
}

Result<void> Hunt::failed(const JobPlan& plan, const RanJob& ran, const Judgement& judgement) {
  if (!options_.keep_failing) return {};
  const std::uint64_t key = key_of(ran, judgement);
  if (const auto known = failure_of_key_.find(key); known != failure_of_key_.end()) {
    ++result_.failures[known->second].count;
    return {};
  }
  if (failure_of_key_.size() >= kMostKeys) {
    add_note("some failures are not listed: there are too many different ones");
    return {};
  }
  if (options_.keep_passing && result_.failures.empty())
    if (auto reserved = recorder_.reserve_for_passing(); !reserved) return reserved;
  // Whether it hangs or is only slow: a correct program may pass more points than was guessed.
  const bool slow =
      judgement.kind == FailureKind::kHang && options_.budget_is_guess && !budget_raised_;
  if (slow) recorder_.set_budget(plan_.budget * kLongerBudget);
  limit_recorder(slow ? kSecondsForSlow : kSecondsToRecord);
  auto recorded = recorder_.record(exact(plan), Verdict::kFail);
  const bool out_of_time = recorded && recorder_.ran_out_of_time();
  if (slow && recorder_.verdict() == Verdict::kPass && !first_passing_) first_passing_ = plan;
  if (slow && recorded && !*recorded && !out_of_time && recorder_.interrupted_by() == 0)
    return raise_budget();
  recorder_.set_budget(plan_.budget);
  if (slow && out_of_time) {
    ++result_.unresolved;
    // It was ended by the number of its points, or by the clock on the wall.
    const std::string seen = ran.job.stopped ? ran.job.stopped->detail
                                             : fmt::format("it passes more than {} million points",
                                                           plan_.budget / 1'000'000);
    add_note(fmt::format(
        "schedule {}: {}; whether it hangs or is only slow is not known: the time was up "
        "(--budget, --time)",
        result_.schedules, seen));
    return {};
  }
  if (!recorded)
    return fail(recorded.error().code,
                fmt::format("schedule {} failed ({}), but could not be recorded: {}",
                            result_.schedules, judgement.detail, recorded.error().message),
                recorded.error().hint);
  if (!*recorded && (recorder_.interrupted_by() != 0 || out_of_time)) {
    result_.interrupted_by = recorder_.interrupted_by();
    interrupted_ = result_.interrupted_by != 0;
    out_of_time_ = result_.out_of_time = !interrupted_;
    // It was seen, though there is no recording of it.
    const Failure failure{*judgement.kind, judgement.detail, "", std::nullopt};
    result_.failures.push_back(
        {failure, ran.job.result.status, 1, result_.schedules, std::nullopt});
    return {};
  }
  // The run reached the budget that it was given, and that was too low.
  if (!*recorded && of_lower_budget_ && judgement.kind == FailureKind::kHang) {
    ++result_.unresolved;
    return {};
  }
  if (!*recorded) {
    ++result_.unresolved;
    return not_repeated(judgement);
  }
  const RunSummary& summary = (*recorded)->summary;
  findings_.learn((*recorded)->run);
  const auto same = [&](const FoundFailure& other) {
    const Failure& a = other.failure;
    const Failure& b = *summary.failure;
    const auto line = [](const Failure& f) {
      return f.at ? std::pair(f.at->file, f.at->line) : std::pair(std::string(), 0u);
    };
    const bool anywhere =
        a.kind == FailureKind::kSignal && is_sent_by_timer(summary.exit_status - 128);
    return a.kind == b.kind && (anywhere || line(a) == line(b)) &&
           other.exit_status == summary.exit_status;
  };
  const auto found = std::ranges::find_if(result_.failures, same);
  failure_of_key_[key] = static_cast<std::size_t>(found - result_.failures.begin());
  if (found != result_.failures.end()) {
    ++found->count;
    return {};
  }
  result_.failures.push_back(
      {*summary.failure, summary.exit_status, 1, result_.schedules, (*recorded)->number});
  if (result_.failures.size() == 1) {
    result_.failing = (*recorded)->number;
    failing_ = (*recorded)->schedule;
    failing_clock_ = summary.clock;
  }
  observer_.found(result_.failures.back());
  return {};
}

// Of the first such run. A run in a separate process has a sentence for what clew does not support.
Result<void> Hunt::tell_why_unresolved(const JobPlan& plan, const RanJob& ran,
                                       const Judgement& judgement) {
  if (ran.job.stopped || std::exchange(told_why_unresolved_, true)) return {};
  std::string why = judgement.detail;
  if (ran.job.result.failure == abi::FailureKind::kUnsupported) {
    limit_recorder(kSecondsForSlow);
    CLEW_TRY(const auto again, recorder_.run_for_findings(exact(plan)));
    result_.interrupted_by = recorder_.interrupted_by();
    interrupted_ = result_.interrupted_by != 0;
    if (again && again->summary.failure) why = again->summary.failure->detail;
  }
  add_note(fmt::format("schedule {} could not be judged: {}", result_.schedules, why));
  return {};
}

Result<void> Hunt::raise_budget() {
  budget_raised_ = of_lower_budget_ = true;
  plan_.budget *= kLongerBudget;
  add_note(fmt::format(
      "runs pass more than {} million points: the budget is {} million from schedule "
      "{} on (--budget)",
      plan_.budget / kLongerBudget / 1'000'000, plan_.budget / 1'000'000, result_.schedules));
  recorder_.set_budget(plan_.budget);
  restart_ = true;
  runner_->set_budget(plan_.budget);
  if (recorder_.verdict() != Verdict::kPass) ++result_.unresolved;
  return {};
}

// A failure that does not happen again in a separate process cannot be shown to be the program's.
// State that runs in the same process share is the first suspect.
Result<void> Hunt::not_repeated(const Judgement& judgement) {
  if (not_repeated_++ == 0)
    first_not_repeated_ = fmt::format("schedule {}: {}", result_.schedules, judgement.detail);
  if (!in_place_) return {};
  in_place_ = false;
  restart_ = true;
  runner_->stop_running_in_place();
  return {};
}

}  // namespace clew
