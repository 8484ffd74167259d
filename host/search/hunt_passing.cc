// The search for a passing schedule close to a failing one.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "host/search/hunt_state.h"

namespace clew {
namespace {

// The search for a passing schedule close to the failing one. Chosen, not measured.
constexpr std::size_t kPassingJobs = 400;
constexpr double kPassingSeconds = 5;
constexpr std::size_t kPassingRound = 16;
// Besides the one without preemptions, before a program counts as one that always fails: if one in
// five schedules passed, one of these would in 97 of 100 cases.
constexpr std::size_t kOtherSchedules = 16;

}  // namespace

Result<bool> Hunt::keep_passing(const JobPlan& plan, std::string distance) {
  CLEW_TRY(auto recorded, recorder_.record(exact(plan), Verdict::kPass));
  if (!recorded) return false;
  result_.passing = recorded->number;
  result_.passing_distance = std::move(distance);
  return true;
}

Result<void> Hunt::keep_what_search_wants() {
  const std::vector<Search::Keep> wanted = search_->to_keep();
  for (std::size_t i = 0; i < wanted.size() && !interrupted_; ++i) {
    recorder_.set_until(0);
    CLEW_TRY(const auto recorded, recorder_.record(exact(wanted[i].plan), wanted[i].verdict));
    interrupted_ |= recorder_.interrupted_by() != 0;
    search_->kept(i, recorded ? std::optional(recorded->number) : std::nullopt);
  }
  return {};
}

// Choi and Zeller 2002, section 5: the failing schedule, perturbed ever more widely until the
// program passes.
Result<bool> Hunt::fuzz_for_passing(std::size_t most) {
  FuzzSearch fuzz(*failing_, Verdict::kPass, failing_clock_, options_.seed, options_.sigma);
  // One at a time while the first may do.
  std::size_t round = 1;
  for (std::size_t tried = 0; tried < most && !interrupted_ && !out_of_time_;) {
    const std::vector<JobPlan> plans = fuzz.next(round);
    if (plans.empty()) break;
    std::vector<RanJob> ran;
    CLEW_CHECK_OK(run_jobs(plans, ran));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (!ran[i].done) continue;
      CLEW_TRY(auto judgement, judge(ran[i]));
      if (start_) ++result_.schedules;
      if (judgement.verdict == Verdict::kPass) {
        auto kept = keep_passing(
            plans[i], fmt::format("switches moved by about {:.1f} events", fuzz.sigma()));
        if (!kept || *kept) return kept;
      }
      tell(fuzz, plans[i], {ran[i].job.result, judgement.verdict, false, {}});
    }
    tried += plans.size();
    round = std::min<std::size_t>(2 * round, kPassingRound);
    if (stage_until_ != 0 && seconds_now() >= stage_until_) break;
  }
  return false;
}

// Whether the program fails without preemptions, too, and under a few schedules of other kinds. Then
// it is told so, and not searched for a schedule that passes.
Result<bool> Hunt::always_fails() {
  std::vector<JobPlan> plans(1 + kOtherSchedules);
  plans[0].strategy = abi::StrategyKind::kPlan;
  for (std::size_t i = 1; i < plans.size(); ++i) {
    plans[i].strategy = i % 2 != 0 ? abi::StrategyKind::kPos : abi::StrategyKind::kRandom;
    plans[i].seed = options_.seed + i;
  }
  std::uint64_t failed = 0;
  const std::span all(plans);
  // The one without preemptions decides whether the others are run.
  for (const auto& some : {all.first(1), all.subspan(1)}) {
    std::vector<RanJob> ran;
    CLEW_CHECK_OK(run_jobs(some, ran));
    for (const RanJob& one : ran) {
      if (!one.done) return false;
      CLEW_TRY(const auto judgement, judge(one));
      if (judgement.verdict != Verdict::kFail) return false;
      ++failed;
    }
  }
  result_.always_fails = result_.schedules + failed;
  return true;
}

Result<void> Hunt::look_for_passing() {
  stage_ = HuntStage::kClosePassing;
  stage_until_ = seconds_now() + std::min(kPassingSeconds, TimeLimit::seconds_left());
  recorder_.set_until(0);
  if (!first_passing_ && result_.unresolved == 0) {
    CLEW_TRY(const bool always, always_fails());
    if (always) return {};
  }
  CLEW_TRY(const auto found, fuzz_for_passing(kPassingJobs));
  if (found || interrupted_) return {};
  JobPlan no_preemptions;
  no_preemptions.strategy = abi::StrategyKind::kPlan;
  CLEW_CHECK_OK(first_passing_ ? keep_passing(*first_passing_, "the first schedule that passed")
                               : keep_passing(no_preemptions, "the schedule without preemptions"));
  return {};
}

Result<void> Hunt::run_from_failing() {
  stage_ = HuntStage::kPassing;
  failing_ = start_->schedule;
  failing_clock_ = start_->run_length;
  result_.looked_for_passing = true;
  CLEW_CHECK_OK(fuzz_for_passing(options_.schedules != 0 ? options_.schedules : SIZE_MAX));
  return {};
}

}  // namespace clew
