#include "host/search/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "host/quote.h"
#include "host/search/fresh_processes.h"
#include "host/search/hunt_state.h"
#include "host/search/servable.h"
#include "host/target/workers.h"

namespace clew {
namespace {

// A round is planned from the results of all rounds before it, so its size must not depend on the
// number of cores: small at first, when much is learned, and large later, when handing out costs.
// The sizes are chosen, not measured, as are those of the pool of threads.
constexpr unsigned kSingleRounds = 8;
constexpr std::size_t kLargestRound = 1024;
constexpr std::uint32_t kMostPool = 2048;

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
  // Tried once here: a program that cannot be served is restarted for each schedule.
  CLEW_TRY(auto input, open_input());
  const auto trial = ServedProgram::start(plan_, input.get(), serve);
  if (!trial && trial.error().code != ErrorCode::kBadInput) return std::unexpected(trial.error());
  if (!trial) {
    add_note(fmt::format("the program is restarted for each schedule: {}", trial.error().message));
    runner_ = std::make_unique<FreshProcesses>(recorder_);
  } else {
    runner_ = std::make_unique<Workers>(plan_, serve, options_.jobs != 0 ? options_.jobs : cores(),
                                        open_input);
  }
  return runner_->start(pool_);
}

Result<std::vector<RanJob>> Hunt::run_jobs(std::span<const JobPlan> jobs) {
  return runner_->run(jobs, sharing_.bits(), options_.choices,
                      [this](std::uint64_t done) { return pulse(done); });
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
  if (judgement.verdict == Verdict::kUnresolved) ++result_.unresolved;
  if (judgement.verdict == Verdict::kPass && !first_passing_) first_passing_ = plan;
  if (judgement.verdict == Verdict::kFail)
    if (auto done = failed(plan, ran, judgement); !done) return done;
  tell(*search_, plan, report);
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
  CLEW_TRY(auto ran, run_jobs(plans));
  std::uint32_t threads = 0;
  SharingMap learned = sharing_;
  for (std::size_t i = 0; i < plans.size() && !over(); ++i) {
    RanJob& job = ran[i];
    if (!job.done) break;
    threads = std::max(threads, job.job.result.threads);
    learned.add(job.job.shared_points);
    if (auto done = take(plans[i], job); !done) return done;
  }
  sharing_ = std::move(learned);
  if (options_.jobs == 0 && runner_->leave_files_to_one()) {
    add_note(
        "one schedule at a time: the program changes files or binds an address, which another "
        "run could see (--jobs)");
    restart_ = true;
  }
  if (restart_) CLEW_CHECK_OK(runner_->start(pool_));
  restart_ = false;
  if (!pool_settled_ && threads > 0) {
    pool_settled_ = true;
    const std::uint32_t wanted = std::min(threads - 1, kMostPool);
    if (wanted > pool_) {
      pool_ = wanted;
      CLEW_CHECK_OK(runner_->start(pool_));
    }
  }
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
    CLEW_CHECK_OK(round(size));
    if (number >= kSingleRounds) size = std::min(2 * size, kLargestRound);
    pulse(0);
  }
  result_.seconds = seconds_now() - started_;
  if (result_.complete) result_.conclusion = search_->conclusion();
  if (options_.keep_passing && failing_ && !interrupted_) CLEW_CHECK_OK(look_for_passing());
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

}  // namespace clew
