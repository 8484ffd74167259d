#include "host/isolate/experiment.h"

#include <algorithm>
#include <utility>

#include "host/search/hunt.h"
#include "host/seconds.h"
#include "host/target/replay.h"

namespace clew {
namespace {

// To see that a run hangs takes all of its budget. A hunt gives a hang two hundred times what it
// takes for one, to be sure; here others would have ended long before.
constexpr std::uint64_t kLargeBudget = 1'000'000'000;
constexpr std::uint64_t kHangPart = 100;

// For each of the two sides.
constexpr double kSecondsWhenInterrupted = 0.5;

LaunchPlan plan_for(const Subject& subject) {
  LaunchPlan plan = subject.plan;
  const bool hangs = subject.recording && subject.recording->meta.summary.outcome == Outcome::kHang;
  if (hangs && plan.budget >= kLargeBudget) plan.budget /= kHangPart;
  plan.flags |= abi::kFlagFromMain;
  plan.output = OutputMode::kCaptureOnly;
  plan.follow = {};
  return plan;
}

TrialOptions trial_options(const IsolateOptions& options, const Subject& subject,
                           const LaunchPlan& plan) {
  TrialOptions trial{.plan = plan,
                     .criteria = options.criteria,
                     .any_failure = options.any_failure,
                     .jobs = options.jobs,
                     .checkpoints = options.checkpoints};
  // A run that was stopped waited for something: that takes long without being work that could be
  // left out.
  if (subject.recording && was_interrupted(subject.recording->meta)) trial.checkpoints = false;
  if (trial.checkpoints && subject.recording &&
      subject.recording->meta.wall_seconds > kClearlyLong) {
    trial.long_run = true;
    trial.expected_end = subject.recording->meta.summary.clock;
  }
  return trial;
}

}  // namespace

Clock end_of(const abi::JobResult& result) { return {result.company}; }

Experiment::Experiment(const IsolateOptions& given, RecordingStore& recordings, Subject what,
                       Judge judging, TrialPulse pulse)
    : options(given),
      store(recordings),
      subject(std::move(what)),
      plan(plan_for(subject)),
      judge(std::move(judging)),
      recorder(plan, subject.input, store, judge),
      trials(trial_options(options, subject, plan), subject.input, recorder, judge,
             std::move(pulse)) {}

Result<std::optional<RecordedJob>> Experiment::record(const JobPlan& job, Verdict verdict,
                                                      std::vector<std::uint64_t> queries) {
  // Ctrl-C ends the search; how far it came is kept, if that takes little time.
  if (result.interrupted_by != 0) recorder.set_until(seconds_now() + kSecondsWhenInterrupted);
  std::ranges::sort(queries);
  const auto repeated = std::ranges::unique(queries);
  queries.erase(repeated.begin(), repeated.end());
  const Origin origin =
      subject.recording ? Origin::isolation(subject.number()) : Origin::isolation();
  auto recorded = recorder.record({job, {}, kAllChoices, plan.pool, origin, queries}, verdict);
  if (recorder.interrupted_by() != 0) result.interrupted_by = recorder.interrupted_by();
  if (recorder.interrupted_by() != 0 || recorder.ran_out_of_time()) result.complete = false;
  if (recorded && *recorded) trials.count_elsewhere((*recorded)->run.summary.clock);
  return recorded;
}

}  // namespace clew
