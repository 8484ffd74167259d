#include "host/search/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <thread>
#include <unordered_set>
#include <utility>

#include "host/quote.h"
#include "host/search/fresh_processes.h"
#include "host/search/fuzz_search.h"
#include "host/search/hunt_input.h"
#include "host/search/hunt_recorder.h"
#include "host/search/make_search.h"
#include "host/search/servable.h"
#include "host/seconds.h"
#include "host/target/interrupts.h"
#include "host/target/workers.h"

namespace clew {
namespace {

// A round is planned from the results of all rounds before it, so its size must not depend on the
// number of cores: small at first, when much is learned, and large later, when handing out costs.
// The sizes are chosen, not measured, as are those of the pool of threads.
constexpr unsigned kSingleRounds = 8;
constexpr std::size_t kLargestRound = 1024;
constexpr std::uint32_t kFirstPool = 4;
constexpr std::uint32_t kMostPool = 2048;
// Different keys may stand for the same failure; finding out costs a run.
constexpr std::size_t kMostKeys = 200;
// Chosen, not measured: a run that is only slow ends within so many times its budget.
constexpr std::uint64_t kLongerBudget = 200;
constexpr double kSecondsForSlow = 20;  // to find out which of the two, at least
// The search for a passing schedule close to the failing one. Chosen, not measured.
constexpr std::size_t kPassingJobs = 400;
constexpr double kPassingSeconds = 5;
constexpr std::size_t kPassingRound = 16;

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

// Which yield points are known to touch what threads share.
class SharingMap {
 public:
  std::span<const std::uint8_t> bits() const { return bits_; }
  void add(const std::vector<std::uint32_t>& points) {
    for (const std::uint32_t point : points) {
      if (point / 8 >= bits_.size()) bits_.resize(point / 8 + 1);
      bits_[point / 8] |= static_cast<std::uint8_t>(1u << (point % 8));
    }
  }

 private:
  std::vector<std::uint8_t> bits_;
};

class Hunt {
 public:
  Hunt(const HuntOptions& options, RecordingStore& store, HuntObserver& observer,
       std::span<ReportListener* const> listeners, HuntInput input, Judge judge,
       std::unique_ptr<Search> search, std::optional<FuzzStart> start)
      : options_(options),
        observer_(observer),
        listeners_(listeners),
        input_(std::move(input)),
        judge_(std::move(judge)),
        search_(std::move(search)),
        start_(std::move(start)),
        plan_(plan_for(options)),
        recorder_(plan_, input_, store, judge_),
        started_(seconds_now()) {}

  Result<HuntResult> run();

 private:
  static LaunchPlan plan_for(const HuntOptions& options) {
    LaunchPlan plan = options.plan;
    plan.seed = options.seed;
    plan.flags |= abi::kFlagFromMain;
    return plan;
  }

  Result<void> choose_engine();
  void tell(ReportListener& search, const JobPlan& plan, const JobReport& report) const {
    search.learn(plan, report);
    for (ReportListener* listener : listeners_) listener->learn(plan, report);
  }
  Result<std::vector<RanJob>> run_jobs(std::span<const JobPlan> jobs);
  Result<void> round(std::size_t size);
  Result<void> take(const JobPlan& plan, RanJob& ran);
  Result<Judgement> judge(const RanJob& ran);
  Result<void> failed(const JobPlan& plan, const RanJob& ran, const Judgement& judgement);
  Result<void> not_repeated(const Judgement& judgement);
  Result<void> raise_budget();
  Result<void> look_for_passing();
  Result<bool> fuzz_for_passing(std::size_t most);
  Result<void> run_from_failing();
  Result<bool> keep_passing(const JobPlan& plan, std::string distance);
  ExactJob exact(const JobPlan& plan) const {
    return {plan, sharing_.bits(), options_.choices, pool_,
            Origin::hunt(result_.schedules, search_->using_now(), options_.seed)};
  }
  void note_files();
  bool pulse(std::uint64_t extra);
  bool over() const {
    return interrupted_ || out_of_time_ || (!options_.keep_going && !result_.failures.empty()) ||
           (options_.schedules != 0 && result_.schedules >= options_.schedules);
  }
  void add_note(std::string note) {
    if (std::ranges::find(result_.notes, note) == result_.notes.end())
      result_.notes.push_back(std::move(note));
  }

  const HuntOptions& options_;
  HuntObserver& observer_;
  std::span<ReportListener* const> listeners_;
  HuntInput input_;
  Judge judge_;
  std::unique_ptr<Search> search_;
  std::optional<FuzzStart> start_;  // a failing schedule: one that passes is wanted
  LaunchPlan plan_;
  HuntRecorder recorder_;
  Interrupts interrupts_;
  std::unique_ptr<JobRunner> runner_;
  double started_;
  double stage_until_ = 0;  // 0: only the options bound it
  HuntStage stage_ = HuntStage::kHunting;
  std::uint32_t pool_ = kFirstPool;
  bool pool_settled_ = false;
  bool in_place_ = false;
  bool restart_ = false;
  bool budget_raised_ = false;
  std::uint64_t not_repeated_ = 0;
  std::string first_not_repeated_;
  bool interrupted_ = false;
  bool out_of_time_ = false;
  SharingMap sharing_;
  std::unordered_set<std::uint64_t> interleavings_;
  std::map<std::uint64_t, std::size_t> failure_of_key_;  // key of a job to result_.failures
  std::optional<Schedule> failing_;
  std::uint64_t failing_clock_ = 0;
  std::optional<JobPlan> first_passing_;
  HuntResult result_;
};

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

Result<void> Hunt::failed(const JobPlan& plan, const RanJob& ran, const Judgement& judgement) {
  std::uint64_t key = ran.job.result.failure_key;
  for (const char c : std::string_view(to_word(*judgement.kind)))
    key = key * 31 + static_cast<unsigned char>(c);
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
  if (slow) {
    recorder_.set_budget(plan_.budget * kLongerBudget);
    const double left = options_.seconds > 0 ? started_ + options_.seconds - seconds_now() : 0;
    recorder_.set_until(seconds_now() + std::max(left, kSecondsForSlow));
  }
  auto recorded = recorder_.record(exact(plan), Verdict::kFail);
  if (slow && recorded && !*recorded && recorder_.interrupted_by() == 0) return raise_budget();
  recorder_.set_budget(plan_.budget);
  recorder_.set_until(0);
  if (recorded && recorder_.ran_out_of_time()) {
    ++result_.unresolved;
    add_note(fmt::format(
        "schedule {} passes more than {} million points; whether it hangs or is only slow is "
        "not known: the time was up (--budget, --time)",
        result_.schedules, plan_.budget / 1'000'000));
    return {};
  }
  if (!recorded)
    return fail(recorded.error().code,
                fmt::format("schedule {} failed ({}), but could not be recorded: {}",
                            result_.schedules, judgement.detail, recorded.error().message),
                recorded.error().hint);
  if (!*recorded && recorder_.interrupted_by() != 0) {
    interrupted_ = true;
    result_.interrupted_by = recorder_.interrupted_by();
    return {};
  }
  if (!*recorded) {
    ++result_.unresolved;
    return not_repeated(judgement);
  }
  const RunSummary& summary = (*recorded)->summary;
  const auto same = [&](const FoundFailure& other) {
    const Failure& a = other.failure;
    const Failure& b = *summary.failure;
    const auto line = [](const Failure& f) {
      return f.at ? std::pair(f.at->file, f.at->line) : std::pair(std::string(), 0u);
    };
    return a.kind == b.kind && line(a) == line(b) && other.exit_status == summary.exit_status;
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

Result<void> Hunt::raise_budget() {
  budget_raised_ = true;
  plan_.budget *= kLongerBudget;
  add_note(fmt::format(
      "runs pass more than {} million points: the budget is {} million from schedule "
      "{} on (--budget)",
      plan_.budget / kLongerBudget / 1'000'000, plan_.budget / 1'000'000, result_.schedules));
  recorder_.set_budget(plan_.budget);
  restart_ = true;
  runner_->set_budget(plan_.budget);
  ++result_.unresolved;
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

Result<bool> Hunt::keep_passing(const JobPlan& plan, std::string distance) {
  CLEW_TRY(auto recorded, recorder_.record(exact(plan), Verdict::kPass));
  if (!recorded) return false;
  result_.passing = recorded->number;
  result_.passing_distance = std::move(distance);
  return true;
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
    CLEW_TRY(auto ran, run_jobs(plans));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (!ran[i].done) break;
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

Result<void> Hunt::look_for_passing() {
  stage_ = HuntStage::kClosePassing;
  stage_until_ = seconds_now() + kPassingSeconds;
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

}  // namespace

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
