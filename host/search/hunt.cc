#include "host/search/hunt.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "clew_abi/late_start.h"
#include "host/quote.h"
#include "host/search/fresh_processes.h"
#include "host/search/hunt_state.h"
#include "host/search/servable.h"
#include "host/target/syscall_names.h"
#include "host/target/workers.h"

namespace clew {
namespace {

// A round is planned from the results of all rounds before it, so its size must not depend on the
// number of cores: small at first, when much is learned, and large later, when handing out costs.
// The sizes are chosen, not measured, as are those of the pool of threads.
constexpr unsigned kSingleRounds = 8;
constexpr std::size_t kLargestRound = 1024;
constexpr std::uint32_t kMostPool = 2048;
constexpr double kLongSchedule = 1;

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

bool Hunt::pulse(std::uint64_t extra) {
  if (const int signal = interrupts_.take(); signal != 0) {
    interrupted_ = true;
    result_.interrupted_by = signal;
  }
  const double now = seconds_now();
  const double passed = now - started_;
  if (options_.seconds > 0 && passed >= options_.seconds && stage_until_ == 0) out_of_time_ = true;
  HuntStatus status;
  status.schedules = result_.schedules + extra;
  status.seconds = passed;
  status.interleavings = interleavings_.size();
  status.strategy = search_->using_now();
  status.stage = stage_;
  status.failures = result_.failures;
  if (options_.seconds > 0) status.seconds_left = std::max(0.0, options_.seconds - passed);
  observer_.status(status);
  if (stage_until_ != 0) return !interrupted_ && now < stage_until_;
  return !interrupted_ && !out_of_time_;
}

Result<void> Hunt::choose_engine() {
  ServeOptions serve;
  serve.capture = options_.criteria.need_output();
  const auto open_input = [this] { return input_.open(); };
  if (options_.runner) {
    serve.in_place = in_place_ = options_.in_place;
    CLEW_TRY(runner_, options_.runner(plan_, serve, open_input));
    return runner_->start(pool_);
  }
  const Servable servable = how_to_serve(plan_.program);
  serve.in_place = in_place_ = options_.in_place && !servable.not_in_place;
  if (options_.in_place && servable.not_in_place)
    add_note(fmt::format("a process is forked for each schedule: the program uses {}",
                         *servable.not_in_place));
  // Tried once here: a program that ends before jobs can begin late begins them at main, and one
  // that cannot be served is restarted for each schedule.
  const auto can_start = [&](std::uint32_t flags) -> Result<void> {
    plan_.flags = flags;
    recorder_.set_flags(flags);
    CLEW_TRY(auto input, open_input());
    CLEW_TRY(const auto program, ServedProgram::start(plan_, input.get(), serve));
    for (std::string& lack : program.lacks()) add_note(std::move(lack));
    return {};
  };
  auto trial = can_start(plan_.flags | abi::kFlagLateStart);
  if (!trial && trial.error().code == ErrorCode::kBadInput)
    trial = can_start(plan_.flags & ~abi::kFlagLateStart);
  if (!trial && trial.error().code != ErrorCode::kBadInput) return std::unexpected(trial.error());
  if (!trial && TimeLimit::is_over()) {
    out_of_time_ = true;
    add_note(trial.error().message);
    runner_ = std::make_unique<FreshProcesses>(recorder_);
    return {};
  }
  if (!trial) {
    add_note(fmt::format("the program is restarted for each schedule: {}", trial.error().message));
    runner_ = std::make_unique<FreshProcesses>(recorder_);
  } else {
    runner_ = std::make_unique<Workers>(plan_, serve, options_.jobs != 0 ? options_.jobs : cores(),
                                        open_input);
  }
  return runner_->start(pool_);
}

Result<void> Hunt::run_jobs(std::span<const JobPlan> jobs, std::vector<RanJob>& ran) {
  done_ = 0;
  done_since_ = seconds_now();
  const auto worked = runner_->run(
      jobs, sharing_.bits(), options_.choices,
      [this](std::uint64_t done) {
        if (std::exchange(done_, done) != done) done_since_ = seconds_now();
        return pulse(done);
      },
      ran);
  for (const RanJob& job : ran) {
    if (job.interrupted_by == 0) continue;
    interrupted_ = true;
    result_.interrupted_by = job.interrupted_by;
  }
  return worked;
}

// The program itself has stopped putting its process back; a worker that has not come to such a
// call yet does when it is started again.
void Hunt::leave_place(std::uint32_t call) {
  in_place_ = false;
  runner_->stop_running_in_place();
  add_note(fmt::format(
      "the program called {} in schedule {}: from here on a process is forked for each schedule",
      lasting_call(call), result_.schedules));
}

// With one thread and no choice (a timeout, a trylock, a weak compare-exchange) every schedule is the
// same. What depends on a signal, on something outside or on a child process may yet differ.
void Hunt::look_for_variety(const abi::JobResult& result) {
  constexpr std::uint8_t kVaries = abi::kUncoveredHandlers | abi::kUncoveredOutside;
  if (result_.schedules == 1) first_hash_ = result.hash;
  one_thread_each_ &= result.threads <= 1;
  forks_ |= result.lasting == SYS_fork;
  nothing_varies_ &= result.end == abi::JobEnd::kExited && result.threads == 1 &&
                     result.questions == 0 && (result.uncovered & kVaries) == 0 &&
                     result.lasting == 0 && result.hash == first_hash_;
  if (in_place_ && result.lasting != 0) leave_place(result.lasting);
}

void Hunt::note_processes() {
  if (!forks_ || !one_thread_each_) return;
  add_note(
      "no run had a second thread, but the program forks: threads of child processes that become "
      "another program, or that are to fail, are not scheduled (--child runs a child that the "
      "program forks; libuv: name the test twice)");
}

// In the order of the jobs, whatever the order in which they were run.
Result<void> Hunt::take(const JobPlan& plan, RanJob& ran) {
  ++result_.schedules;
  CLEW_TRY(auto judgement, judge(ran));
  JobReport report;
  report.result = ran.job.result;
  report.verdict = judgement.verdict;
  if (interleavings_.size() < kMostInterleavings)
    report.new_interleaving = interleavings_.insert(ran.job.result.interleaving).second;
  report.trace = std::move(ran.job.trace);
  look_for_variety(ran.job.result);
  loop_waits_.learn(ran.job.result);
  if (judgement.verdict == Verdict::kUnresolved) {
    ++result_.unresolved;
    CLEW_CHECK_OK(tell_why_unresolved(plan, ran, judgement));
  }
  if (judgement.verdict == Verdict::kPass && !first_passing_) first_passing_ = plan;
  if (judgement.verdict == Verdict::kFail)
    if (auto done = failed(plan, ran, judgement); !done) return done;
  if (judgement.verdict == Verdict::kFail) {
    const auto listed = failure_of_key_.find(key_of(ran, judgement));
    if (listed != failure_of_key_.end()) report.failure = listed->second;
  }
  CLEW_CHECK_OK(take_findings(plan, ran));
  report.shared_points = ran.job.shared_points;
  tell(*search_, plan, report);
  return {};
}

// The schedule that was under way when the time was up, if it had run for long. Of several at a time it
// is not known which it is.
void Hunt::note_unended(std::size_t round) {
  const double seconds = seconds_now() - done_since_;
  if (!out_of_time_ || seconds < kLongSchedule) return;
  result_.unended_seconds = seconds;
  const std::string which =
      round == 1 ? fmt::format("schedule {}", result_.schedules + 1) : "a schedule";
  add_note(fmt::format("{} had not ended when the time was up, after {:.1f} s", which, seconds));
}

// What the run has found, by name if that is new.
Result<void> Hunt::take_findings(const JobPlan& plan, const RanJob& ran) {
  if (ran.job.findings.empty()) return {};
  if (findings_.wants_run(ran.job.findings)) {
    recorder_.set_until(0);
    CLEW_TRY(const auto again, recorder_.run_for_findings(exact(plan)));
    if (recorder_.interrupted_by() != 0) {
      interrupted_ = true;
      result_.interrupted_by = recorder_.interrupted_by();
    }
    if (!again) return {};
    findings_.learn(*again);
  }
  findings_.count(ran.job.findings, result_.schedules);
  return {};
}

// Every run that was made is judged, whatever ended the round: time, a signal, an error. Some may
// be missing in between then, and there is no further round.
Result<void> Hunt::take_all(std::span<const JobPlan> plans, std::span<RanJob> ran) {
  std::uint32_t threads = 0;
  SharingMap learned = sharing_;
  for (std::size_t i = 0; i < ran.size() && !found_enough(); ++i) {
    RanJob& job = ran[i];
    if (!job.done) {
      missing_ = true;
      continue;
    }
    threads = std::max(threads, job.job.result.threads);
    learned.add(job.job.shared_points);
    CLEW_CHECK_OK(take(plans[i], job));
  }
  if (!search_->sharing_is_settled()) sharing_ = std::move(learned);
  if (!pool_settled_ && threads > 0) {
    pool_settled_ = true;
    const std::uint32_t wanted = std::min(threads - 1, kMostPool);
    restart_ |= wanted > pool_;
    pool_ = std::max(pool_, wanted);
  }
  return {};
}

Result<void> Hunt::round(std::size_t size) {
  if (options_.schedules != 0)
    size = std::min<std::size_t>(size, options_.schedules - result_.schedules);
  std::vector<JobPlan> plans = search_->next(size);
  if (plans.empty()) {
    result_.complete = true;
    return {};
  }
  // Nothing is known about sharing before the first run.
  if (result_.schedules == 0)
    for (JobPlan& plan : plans) plan.flags |= abi::kJobAllPoints;
  for (JobPlan& plan : plans) loop_waits_.adapt(plan);
  std::vector<RanJob> ran;
  auto worked = run_jobs(plans, ran);
  if (result_.schedules == 0 && worked) worked = learn_from_first(plans, ran);
  const bool cut_short = !std::ranges::all_of(ran, &RanJob::done);
  if (cut_short) note_unended(plans.size());
  CLEW_CHECK_OK(take_all(plans, ran));
  CLEW_CHECK_OK(worked);
  if (over()) return {};
  if (options_.jobs == 0 && runner_->leave_files_to_one()) {
    add_note(
        "one schedule at a time: the program changes files or binds an address, which another "
        "run could see (--jobs)");
    restart_ = true;
  }
  if (restart_) CLEW_CHECK_OK(runner_->start(pool_));
  restart_ = of_lower_budget_ = false;
  return {};
}

// An error after something was found ends the hunt, and does not hide what was found.
Result<void> Hunt::unless_found(Result<void> done) {
  if (done || result_.failures.empty()) return done;
  failed_ = true;
  add_note(fmt::format("the hunt ended early: {}", done.error().message));
  return {};
}

void Hunt::note_files() {
  const ServedProgram::FileUse files = runner_->file_use();
  if (!files.changed_first) return;
  add_note(fmt::format("the program changes {}, which is not put back between schedules",
                       quote(*files.changed_first, abi::kMaxChangedPath)));
}

Result<HuntResult> Hunt::run() {
  result_.strategy = options_.strategy;
  result_.seed = options_.seed;
  CLEW_CHECK_OK(choose_engine());
  if (start_) {
    auto done = run_from_failing();
    result_.seconds = seconds_now() - started_;
    note_files();
    CLEW_CHECK_OK(done);
    return std::move(result_);
  }
  std::size_t size = 1;
  for (unsigned number = 1; !over() && !result_.complete; ++number) {
    CLEW_CHECK_OK(unless_found(round(size)));
    if (number >= kSingleRounds) size = std::min(2 * size, kLargestRound);
    pulse(0);
  }
  result_.seconds = seconds_now() - started_;
  result_.findings = findings_.take();
  if (const std::string lack = findings_.lack(); !lack.empty()) add_note(lack);
  if (result_.complete) result_.conclusion = search_->conclusion();
  result_.coverage = search_->coverage();
  result_.single_threaded = nothing_varies_ && result_.schedules >= kRunsIfNothingVaries;
  note_processes();
  CLEW_CHECK_OK(unless_found(keep_what_search_wants()));
  if (options_.keep_passing && failing_ && !interrupted_ && !failed_)
    CLEW_CHECK_OK(unless_found(look_for_passing()));
  result_.interleavings = interleavings_.size();
  note_files();
  if (not_repeated_ > 0)
    add_note(
        fmt::format("{} schedule{} failed, but not when run again in a new process, and {} not "
                    "counted ({})",
                    not_repeated_, not_repeated_ == 1 ? "" : "s", not_repeated_ == 1 ? "is" : "are",
                    first_not_repeated_));
  return std::move(result_);
}

Result<HuntResult> hunt(const HuntOptions& options, RecordingStore& store, HuntObserver& observer,
                        std::span<ReportListener* const> listeners) {
  CLEW_TRY(auto judge, Judge::create(options.criteria));
  CLEW_TRY(auto search, make_search(options, store));
  std::optional<FuzzStart> start;
  if (options.strategy == "fuzz") {
    CLEW_TRY(auto given, fuzz_start(options, store));
    if (given.looking_for == Verdict::kPass) start = std::move(given);
  }
  CLEW_TRY(auto input, HuntInput::from_here());
  return Hunt(options, store, observer, listeners, std::move(input), std::move(judge),
              std::move(search), std::move(start))
      .run();
}

Result<HuntResult> hunt_with(std::unique_ptr<Search> search, const HuntOptions& options,
                             RecordingStore& store, HuntObserver& observer, HuntInput input) {
  CLEW_TRY(auto judge, Judge::create(options.criteria));
  return Hunt(options, store, observer, {}, std::move(input), std::move(judge), std::move(search),
              std::nullopt)
      .run();
}

Result<std::vector<std::uint32_t>> children_with_threads(const HuntOptions& options,
                                                         RecordingStore& store,
                                                         HuntObserver& observer) {
  CLEW_TRY(auto judge, Judge::create(options.criteria));
  CLEW_TRY(auto search, make_search(options, store));
  CLEW_TRY(auto input, HuntInput::from_here());
  return Hunt(options, store, observer, {}, std::move(input), std::move(judge), std::move(search),
              std::nullopt)
      .children();
}

}  // namespace clew
