#include "host/search/hunt_recorder.h"

#include <utility>

#include "host/names/findings.h"
#include "host/schedule/stream.h"
#include "host/seconds.h"
#include "host/symbolize/locate.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/exit_status.h"
#include "host/target/leftovers.h"
#include "host/target/run_target.h"

namespace clew {
namespace {

class Limited final : public RunObserver {
 public:
  explicit Limited(double until) : until_(until) {}
  bool time_is_up() override { return stopped_ |= until_ != 0 && seconds_now() >= until_; }
  bool stopped() const { return stopped_; }

 private:
  double until_;
  bool stopped_ = false;
};

class Pulsed final : public RunObserver {
 public:
  explicit Pulsed(const std::function<bool()>& pulse) : pulse_(pulse) {}
  bool time_is_up() override { return stopped_ |= !pulse_(); }
  bool stopped() const { return stopped_; }

 private:
  const std::function<bool()>& pulse_;
  bool stopped_ = false;
};

// By clew: its observer or the limit of the command said so.
bool was_ended(const RunSummary& summary) {
  return summary.failure && summary.failure->kind == FailureKind::kInterrupted;
}

RunFacts facts_of(const RunSummary& summary) {
  RunFacts facts;
  facts.status = summary.exit_status;
  facts.end = abi::JobEnd::kExited;
  if (!summary.failure) return facts;
  // Of a run that clew itself ended nothing can be said.
  facts.failure = to_abi(summary.failure->kind).value_or(abi::FailureKind::kUnsupported);
  if (facts.failure == abi::FailureKind::kExit) return facts;
  if (facts.failure == abi::FailureKind::kSignal) {
    facts.end = abi::JobEnd::kSignalled;
    facts.status -= 128;
  } else {
    facts.end = abi::JobEnd::kFailed;
  }
  return facts;
}

// What a run may store of each of its streams is less.
constexpr std::uint64_t kMostJudged = std::uint64_t{256} << 20;

std::string text_of(const std::filesystem::path& path) {
  const auto bytes = read_file_start(path, kMostJudged);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "";
}

}  // namespace

HuntRecorder::HuntRecorder(LaunchPlan plan, const HuntInput& input, RecordingStore& store,
                           Judge& judge)
    : plan_(std::move(plan)), input_(input), store_(store), judge_(judge) {}

LaunchPlan HuntRecorder::plan_of(const ExactJob& job) const {
  LaunchPlan plan = plan_;
  plan.flags |= abi::kFlagFromMain | abi::kFlagTellCreated;
  plan.strategy = job.plan.strategy;
  plan.schedule_seed = job.plan.seed;
  plan.parameters = job.plan.parameters;
  // There is no room for a trace; but where a long run is decided on depends on whether there is to be
  // one (runtime/sched/coasting.h).
  plan.job_flags = job.plan.flags;
  plan.choices = job.choices;
  plan.follow = {job.plan.guide, job.plan.names};
  plan.sharing.assign(job.sharing.begin(), job.sharing.end());
  plan.sharing.resize(kSharingBytes);
  plan.pool = job.pool;
  plan.queries = job.queries;
  plan.output = OutputMode::kCaptureOnly;
  return plan;
}

Result<void> HuntRecorder::reserve_for_passing() {
  CLEW_TRY(auto draft, store_.create());
  reserved_.emplace(std::move(draft));
  return {};
}

Result<std::optional<RecordedJob>> HuntRecorder::record(const ExactJob& job, Verdict wanted) {
  verdict_.reset();
  if (!identity_) {
    CLEW_TRY(auto identity, identify_program(plan_.program));
    identity_ = identity;
  }
  const LaunchPlan plan = plan_of(job);
  CLEW_TRY(auto draft, wanted == Verdict::kPass && reserved_ ? Result<Draft>(std::move(*reserved_))
                                                             : store_.create());
  if (wanted == Verdict::kPass) reserved_.reset();
  CLEW_TRY(auto feed, input_.feed(draft));
  const StdinKind input_kind = feed.kind();
  Limited limited(until_);
  CLEW_TRY(auto run, run_target(plan, std::move(feed), &draft, limited));
  const Leftovers until_judged(std::move(run.reports.created));
  interrupted_by_ = run.interrupted_by;
  ran_out_of_time_ = limited.stopped() || was_ended(run.summary);
  if (interrupted_by_ != 0 || ran_out_of_time_) return std::nullopt;
  Symbolizer symbols(run.reports);
  locate_failure(run, symbols);
  locate_findings(run, symbols);

  RunFacts facts = facts_of(run.summary);
  const std::string output = text_of(draft.path() / "stdout");
  const std::string errors = text_of(draft.path() / "stderr");
  facts.output = output;
  facts.errors = errors;
  CLEW_TRY(auto judgement, judge_.judge(facts));
  verdict_ = judgement.verdict;
  if (judgement.verdict != wanted) return std::nullopt;

  Meta meta = meta_of_run(plan, run, input_kind);
  meta.identity = *identity_;
  // What only the user's criteria call a failure is none to a replay, which has the program's own
  // end to compare.
  const bool own_failure = run.summary.failure && run.summary.failure->kind == judgement.kind;
  meta.origin = job.origin;
  if (wanted == Verdict::kFail && !own_failure)
    meta.judged = Judged{judge_.criteria(), *judgement.kind, judgement.detail};
  CLEW_TRY(const auto recording, draft.commit(std::move(meta)));

  RecordedJob recorded{recording.number, {}, run.summary, judgement, {}};
  recorded.summary.exit_status = exit_status_of(run);
  recorded.run = std::move(run);
  if (wanted == Verdict::kFail && !own_failure)
    recorded.summary.failure = Failure{*judgement.kind, judgement.detail, "", std::nullopt};
  CLEW_TRY(auto stream, read_schedule_file(recording.schedule_file()));
  CLEW_TRY(auto schedule, to_schedule(stream));
  recorded.schedule = std::move(schedule);
  return recorded;
}

Result<RanJob> HuntRecorder::run_anew(const ExactJob& job, const std::function<bool()>& pulse) {
  CLEW_TRY(auto input, input_.open());
  CLEW_TRY(auto feed, InputFeed::from_file(std::move(input), nullptr));
  Pulsed pulsed(pulse);
  CLEW_TRY(auto run, run_target(plan_of(job), std::move(feed), nullptr, pulsed));
  const Leftovers leftovers(std::move(run.reports.created));
  const RunFacts facts = facts_of(run.summary);
  RanJob result;
  result.job.trace.complete = (job.plan.flags & abi::kJobTrace) == 0;
  result.interrupted_by = run.interrupted_by;
  result.done = run.interrupted_by == 0 && !pulsed.stopped() && !was_ended(run.summary);
  result.job.result.end = facts.end;
  result.job.result.status = facts.status;
  result.job.result.failure = facts.failure;
  result.job.result.clock = run.summary.clock;
  result.job.result.hash = result.job.result.interleaving = run.summary.hash;
  result.job.result.threads = static_cast<std::uint32_t>(run.summary.threads);
  for (const FindingReport& found : run.reports.findings)
    result.job.findings.push_back(key_of(found));
  result.job.result.failure_key = std::hash<std::string>{}(
      run.summary.failure ? to_word(run.summary.failure->kind) + run.summary.failure->detail : "");
  return result;
}

Result<std::optional<RunResult>> HuntRecorder::run_for_findings(const ExactJob& job) {
  CLEW_TRY(auto input, input_.open());
  CLEW_TRY(auto feed, InputFeed::from_file(std::move(input), nullptr));
  Limited limited(until_);
  CLEW_TRY(auto run, run_target(plan_of(job), std::move(feed), nullptr, limited));
  const Leftovers leftovers(std::move(run.reports.created));
  interrupted_by_ = run.interrupted_by;
  if (interrupted_by_ != 0 || limited.stopped() || was_ended(run.summary)) return std::nullopt;
  Symbolizer symbols(run.reports);
  locate_findings(run, symbols);
  return run;
}

}  // namespace clew
