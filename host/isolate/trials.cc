#include "host/isolate/trials.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "host/quote.h"
#include "host/schedule/stream.h"
#include "host/search/fresh_processes.h"
#include "host/search/hunt.h"
#include "host/search/servable.h"
#include "host/seconds.h"
#include "host/target/workers.h"
#include "host/time_limit.h"
#include "host/timer_signals.h"

namespace clew {
namespace {

// Failing schedules fail by then, in multiples of the first one's clock; a run that goes further
// is taken to pass. Chosen, not measured, as are the numbers below.
constexpr std::uint64_t kHorizon = 2;
// The part of the first run behind the last of its checkpoints, which are made for tests whose
// parting from it is not known yet.
constexpr std::uint64_t kSmallestRest = 64;
// Checkpoints that lie closer are not worth it.
constexpr std::uint64_t kCheckpointsPerRun = 512;
constexpr std::size_t kMostKnown = 256;
constexpr std::size_t kMostKnownSwitches = 500'000;  // of all of them
// A run that takes this many times as long as the failing one hangs.
constexpr std::uint64_t kBudgetFactor = 50;
constexpr std::uint64_t kLeastBudget = 20'000'000;

// Of the failures whose place does not say what they are: a deadlock is one whoever else waits. The
// runtime knows the place of a sanitizer's report only if that ends the run.
bool place_matters(FailureKind kind, const abi::JobResult& failure) {
  if (kind == FailureKind::kSignal && is_sent_by_timer(failure.status)) return false;
  if (kind == FailureKind::kSanitizer) return failure.failure == abi::FailureKind::kSanitizer;
  return kind != FailureKind::kDeadlock && kind != FailureKind::kHang &&
         kind != FailureKind::kOutput && kind != FailureKind::kJudge;
}

// Failures that happen at a statement. A deadlock is no statement's, and the last steps before an
// exit are those of destructors.
bool has_place(FailureKind kind, int status) {
  if (kind == FailureKind::kSignal) return !is_sent_by_timer(status);
  return kind == FailureKind::kAssert || kind == FailureKind::kException ||
         kind == FailureKind::kSanitizer;
}
// Whether a passing run can execute the last step of the failing one: the access that faults, the
// condition that is checked. Before an exception or an abort() there may be steps that only a
// failing run makes: its message is put together.
bool can_be_passed(FailureKind kind, int status) {
  return kind == FailureKind::kAssert || kind == FailureKind::kSanitizer ||
         (kind == FailureKind::kSignal &&
          (status == SIGSEGV || status == SIGBUS || status == SIGFPE || status == SIGILL));
}
// Runs that show where passing runs come to.
constexpr std::uint64_t kLooksAround = 32;
// Otherwise it may not look at the accesses of places where nothing was shared so far.
bool sees_every_event(const JobPlan& plan) {
  return plan.strategy == abi::StrategyKind::kSchedule ||
         plan.strategy == abi::StrategyKind::kScript || (plan.flags & abi::kJobAllPoints) != 0;
}
// How far behind the failure its last step is looked for.
constexpr std::uint64_t kLastEvents = 100'000;

}  // namespace

JobPlan job_of(const Schedule& schedule) {
  Stream stream = encode(schedule);
  JobPlan plan;
  plan.strategy = abi::StrategyKind::kSchedule;
  plan.flags = abi::kJobLoose;
  plan.guide = std::move(stream.bytes);
  plan.names = std::move(stream.names);
  return plan;
}

Trials::Trials(TrialOptions options, const HuntInput& input, HuntRecorder& recorder, Judge judge,
               TrialPulse pulse)
    : options_(std::move(options)),
      input_(input),
      recorder_(recorder),
      judge_(std::move(judge)),
      pulse_(std::move(pulse)) {
  if (options_.jobs != 0) return;
  jobs_are_ours_ = true;
  options_.jobs = std::max(1u, std::thread::hardware_concurrency());
}

Trials::~Trials() = default;

bool Trials::pulse() {
  if (!stopped_ && !pulse_()) stopped_ = true;
  return !stopped_;
}

void Trials::add_note(std::string note) {
  if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
}

void Trials::note_changed_file(const ServedProgram::FileUse& files) {
  add_note(
      fmt::format("tests run the program from its start: it changes {}, which a checkpoint does "
                  "not put back",
                  quote(*files.changed_first, abi::kMaxChangedPath)));
}

double Trials::cost_runs() const {
  return static_cast<double>(events_) /
         static_cast<double>(std::max<std::uint64_t>(1, failure_.result.clock));
}

Result<TrialRun> Trials::judged(RanJob& ran, bool watches) {
  TrialRun run;
  run.result = ran.job.result;
  run.trace = std::move(ran.job.trace);
  if (ran.job.stopped) {
    const bool hang = ran.job.stopped->kind == FailureKind::kHang;
    run.judgement = {hang ? Verdict::kFail : Verdict::kUnresolved, ran.job.stopped->kind,
                     ran.job.stopped->detail};
    if (!hang) add_note(ran.job.stopped->detail);
  } else {
    CLEW_TRY(auto judgement, judge_.judge({run.result.end, run.result.status, run.result.failure,
                                           ran.output, ran.errors}));
    run.judgement = std::move(judgement);
  }
  const auto is_the_failure = [&] {
    if (!failure_known_ || options_.any_failure) return true;
    return run.judgement.kind == failure_.judgement.kind &&
           (!place_matters(*run.judgement.kind, failure_.result) ||
            run.result.failure_key == failure_.result.failure_key);
  };
  if (run.judgement.verdict == Verdict::kPass) {
    run.hides = watches && run.result.watched == 0;
    if (!run.hides || accepts_hiding_) run.verdict = Verdict::kPass;
  }
  if (run.judgement.verdict == Verdict::kFail && is_the_failure()) run.verdict = Verdict::kFail;
  return run;
}

Result<void> Trials::start() {
  serve_.capture = options_.criteria.need_output();
  serve_.in_place = !how_to_serve(options_.plan.program).not_in_place;
  const auto open_input = [this] { return input_.open(); };
  CLEW_TRY(auto input, open_input());
  const auto trial = ServedProgram::start(options_.plan, input.get(), serve_);
  if (!trial && trial.error().code != ErrorCode::kBadInput) return std::unexpected(trial.error());
  if (!trial && TimeLimit::is_over()) {
    stopped_ = true;
    return {};
  }
  if (!trial) {
    add_note(fmt::format("the program is restarted for each test: {}", trial.error().message));
    served_ = false;
    runner_ = std::make_unique<FreshProcesses>(recorder_);
    return runner_->start(options_.plan.pool);
  }
  for (std::string& lack : trial->lacks()) add_note(std::move(lack));
  if (options_.runner) {
    CLEW_TRY(runner_, options_.runner(options_.plan, serve_, open_input));
  } else {
    runner_ = std::make_unique<Workers>(options_.plan, serve_, options_.jobs, open_input);
  }
  if (options_.checkpoints && options_.long_run)
    lane_ = std::make_unique<PrefixLane>(options_.plan, serve_, open_input);
  return runner_->start(options_.plan.pool);
}

Result<std::optional<TrialRun>> Trials::run_first(const Schedule& failing) {
  if (!lane_) return run_traced(failing, 0, 0);
  PrefixLane::Task task{job_of(failing), failing, {}, 0};
  task.job.flags |= abi::kJobWholeTrace;
  // Ever closer to the end.
  for (std::uint64_t rest = 2; rest <= kSmallestRest; rest *= 2)
    for (const std::uint64_t part : {2 * rest - 3, 2 * rest - 2})
      task.stops.push_back(options_.expected_end / (2 * rest) * part + 1);
  return run_from_checkpoint(std::move(task));
}

// Two runs at a time would see each other's files.
Result<void> Trials::leave_files_to_one_worker() {
  if (!jobs_are_ours_ || !runner_->leave_files_to_one()) return {};
  add_note("one test at a time: the program changes files, which another test could see");
  return runner_->start(options_.plan.pool);
}

// A run that takes much longer than the failing one hangs.
Result<void> Trials::limit_budget() {
  const std::uint64_t budget = std::max(kLeastBudget, failure_.result.clock * kBudgetFactor);
  if (failure_.judgement.kind == FailureKind::kHang || budget >= options_.plan.budget) return {};
  options_.plan.budget = budget;
  recorder_.set_budget(budget);
  runner_->set_budget(budget);
  return runner_->start(options_.plan.pool);
}

Result<TrialRun> Trials::set_failure(const Schedule& failing) {
  CLEW_CHECK_OK(start());
  if (!pulse()) return TrialRun{};
  // The first run that a judge sees is what others differ from.
  if (options_.criteria.fails_if_output_differs) {
    CLEW_CHECK_OK(run_alone(job_of(Schedule{})));
  }
  const double before = seconds_now();
  CLEW_TRY(auto first, run_first(failing));
  if (!first) return TrialRun{};
  const double seconds = seconds_now() - before;
  failure_ = std::move(*first);
  if (failure_.judgement.verdict != Verdict::kFail)
    return fail(ErrorCode::kBadInput, "the failing schedule does not fail when it is run again",
                "if only the criteria of the hunt call it a failure, give them again");
  failure_known_ = true;
  const ServedProgram::FileUse files = runner_->file_use();
  CLEW_CHECK_OK(leave_files_to_one_worker());
  CLEW_CHECK_OK(limit_budget());
  const bool is_long = seconds >= (failure_.result.clock < kFewEvents ? kClearlyLong : kLongRun);
  if (served_ && !lane_ && !is_long) {
    CLEW_CHECK_OK(find_failing_place(failing));
  } else if (served_ && !lane_ && options_.checkpoints) {
    if (files.changed_first)
      note_changed_file(files);
    else
      lane_ = std::make_unique<PrefixLane>(options_.plan, serve_, [this] { return input_.open(); });
  }
  if (lane_) CLEW_CHECK_OK(widen_horizon(failing));
  return failure_;
}

// The clock of a fault is the last that was certain, and the fault may come long after it: no horizon
// will do that the failing run itself gets past.
Result<void> Trials::widen_horizon(const Schedule& failing) {
  while (lane_ && failure_.result.end == abi::JobEnd::kSignalled) {
    PrefixLane::Task task = task_of(failing, {});
    const std::uint64_t wider = 2 * task.horizon;
    CLEW_TRY(const auto run, run_from_checkpoint(std::move(task)));
    if (!run || !run->cut) break;
    horizon_ = wider;
  }
  return {};
}

// Right after its last step the thread that was running failed.
Result<void> Trials::find_failing_place(const Schedule& failing) {
  if (!has_place(*failure_.judgement.kind, failure_.result.status)) return {};
  const std::uint64_t end = failure_.result.clock;
  CLEW_TRY(const auto run, run_traced(failing, end > kLastEvents ? end - kLastEvents : 1, end + 1));
  if (!run || run->trace.steps.empty() || !run->trace.complete) return {};
  // From now on the runs are watched, as this one was: what was counted together for speed is not,
  // so that the address of a fault may be another one.
  failure_.result.failure_key = run->result.failure_key;
  const TraceStep& last = run->trace.steps.back();
  if (can_be_passed(*failure_.judgement.kind, failure_.result.status)) {
    failing_place_is_exact_ = true;
    failing_place_ = last.place;
    return {};
  }
  CLEW_TRY(const auto passing, places_of_passing_runs());
  // If no run passes, the last will do.
  failing_place_ = last.place;
  for (auto step = run->trace.steps.rbegin(); step != run->trace.steps.rend(); ++step)
    if (step->thread == last.thread && passing.contains(step->place)) {
      failing_place_ = step->place;
      break;
    }
  return {};
}

Result<std::unordered_set<abi::Place>> Trials::places_of_passing_runs() {
  std::vector<JobPlan> plans(kLooksAround);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].strategy = i % 2 == 0 ? abi::StrategyKind::kRandom : abi::StrategyKind::kPos;
    plans[i].seed = i;
    plans[i].flags = abi::kJobAllPoints | abi::kJobTrace;
  }
  std::unordered_set<abi::Place> places;
  CLEW_TRY(const auto runs, run(plans));
  for (const TrialRun& one : runs)
    if (one.verdict == Verdict::kPass)
      for (const TraceStep& step : one.trace.steps) places.insert(step.place);
  return places;
}

void Trials::accept_hiding() {
  accepts_hiding_ = true;
  known_.clear();
  known_switches_ = 0;
}

Result<std::vector<TrialRun>> Trials::run(std::span<const JobPlan> plans) {
  if (stopped_) return std::vector<TrialRun>{};
  std::vector<JobPlan> watching(plans.begin(), plans.end());
  for (JobPlan& plan : watching)
    if (sees_every_event(plan)) plan.watch = failing_place_;
  std::vector<RanJob> ran;
  CLEW_CHECK_OK(
      runner_->run(watching, {}, kAllChoices, [this](std::uint64_t) { return pulse(); }, ran));
  if (!pulse()) return std::vector<TrialRun>{};
  std::vector<TrialRun> runs;
  for (RanJob& job : ran) {
    if (!job.done) {
      stopped_ = true;
      return std::vector<TrialRun>{};
    }
    CLEW_TRY(auto run, judged(job, watching[runs.size()].watch != 0));
    ++runs_;
    events_ += run.result.clock;
    runs.push_back(std::move(run));
  }
  return runs;
}

// Two schedules that are the same up to the end of the run of one give the same execution. The clock
// of a fault may be behind: it is the last that is certain.
const TrialRun* Trials::known(const Schedule& schedule) const {
  for (auto at = known_.rbegin(); at != known_.rend(); ++at) {
    const std::uint64_t end = std::max(at->run.result.clock, at->run.result.company);
    if ((!at->run.cut || may_cut_) && common_until(at->schedule, schedule) > end + 1)
      return &at->run;
  }
  return nullptr;
}

void Trials::remember(const Schedule& schedule, const TrialRun& run) {
  known_.push_back({schedule, run});
  known_switches_ += schedule.switches.size();
  while (known_.size() > kMostKnown ||
         (known_switches_ > kMostKnownSwitches && known_.size() > 1)) {
    known_switches_ -= known_.front().schedule.switches.size();
    known_.pop_front();
  }
}

Result<std::optional<TrialRun>> Trials::run_one(const Schedule& schedule,
                                                std::span<const Schedule> next) {
  if (const TrialRun* run = known(schedule)) return *run;
  if (!lane_) return run_ahead(schedule, next);
  auto run = run_from_checkpoint(task_of(schedule, next));
  if (run && *run) remember(schedule, **run);
  return run;
}

// Short runs: those that may come next are run at the same time, one on each core.
Result<std::optional<TrialRun>> Trials::run_ahead(const Schedule& schedule,
                                                  std::span<const Schedule> next) {
  std::vector<const Schedule*> schedules{&schedule};
  for (const Schedule& likely : next)
    if (schedules.size() < runner_->width() && known(likely) == nullptr)
      schedules.push_back(&likely);
  std::vector<JobPlan> plans;
  for (const Schedule* one : schedules) plans.push_back(job_of(*one));
  CLEW_TRY(auto runs, run(plans));
  if (runs.empty()) return std::nullopt;
  for (std::size_t i = 0; i < schedules.size(); ++i) remember(*schedules[i], runs[i]);
  return std::move(runs.front());
}

PrefixLane::Task Trials::task_of(const Schedule& schedule, std::span<const Schedule> next) const {
  const std::uint64_t length = failure_.result.clock;
  PrefixLane::Task task{job_of(schedule), schedule, {}, 0};
  if (may_cut_) task.horizon = std::max(horizon_, length * kHorizon);
  const std::uint64_t end = may_cut_ ? task.horizon : 2 * length;
  std::vector<std::uint64_t> wanted;
  for (const Schedule& likely : next) wanted.push_back(common_until(schedule, likely));
  std::ranges::sort(wanted);
  const std::uint64_t gap = length / kCheckpointsPerRun + 1;
  for (const std::uint64_t stop : wanted)
    if (stop > gap && stop < end && (task.stops.empty() || stop >= task.stops.back() + gap))
      task.stops.push_back(stop);
  return task;
}

Result<std::optional<TrialRun>> Trials::run_from_checkpoint(PrefixLane::Task task) {
  // The lane tells while a run lasts; many are over before that.
  if (!pulse()) return std::nullopt;
  auto ran = lane_->run(task, [this] { return pulse(); });
  CLEW_CHECK_OK(ran);
  if (!*ran) {
    stopped_ = true;
    return std::nullopt;
  }
  LaneRun& lane_run = **ran;
  if (const auto files = lane_->file_use(); files.changed_first) {
    note_changed_file(files);
    lane_.reset();
    return run_alone(task.job);
  }
  ++runs_;
  const std::uint64_t clock = lane_run.job.job.result.clock;
  events_ += clock - std::min(lane_run.began, clock);
  if (!lane_run.cut) {
    CLEW_TRY(auto run, judged(lane_run.job, false));
    return std::move(run);
  }
  has_cut_ = true;
  TrialRun run;
  run.verdict = Verdict::kPass;
  run.result = lane_run.job.job.result;
  run.trace = std::move(lane_run.job.job.trace);
  run.cut = true;
  return run;
}

Result<std::optional<TrialRun>> Trials::run_alone(const JobPlan& plan) {
  CLEW_TRY(auto runs, run({&plan, 1}));
  if (runs.empty()) return std::nullopt;
  return std::move(runs.front());
}

Result<std::optional<TrialRun>> Trials::run_traced(const Schedule& schedule, std::uint64_t first,
                                                   std::uint64_t last) {
  PrefixLane::Task task = task_of(schedule, {});
  task.from = first;
  task.job.flags |= abi::kJobWholeTrace;
  task.job.window = {first, last};
  return lane_ ? run_from_checkpoint(std::move(task)) : run_alone(task.job);
}

}  // namespace clew
