#include "host/isolate/isolate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

#include "host/isolate/difference.h"
#include "host/isolate/explain.h"
#include "host/isolate/fewer.h"
#include "host/isolate/pair.h"
#include "host/isolate/simplify.h"
#include "host/isolate/trials.h"
#include "host/isolate/window.h"
#include "host/schedule/stream.h"
#include "host/search/fuzz_search.h"
#include "host/search/hunt.h"
#include "host/search/hunt_input.h"
#include "host/search/hunt_recorder.h"
#include "host/target/interrupts.h"
#include "host/target/replay.h"

namespace clew {
namespace {

using abi::StepKind;
using abi::TraceEvent;

// Of more preemptions only those that were isolated are explained.
constexpr std::size_t kMostPreemptions = 16;
// Events behind the point at which the two runs part among which the pair is sought.
constexpr std::uint64_t kTraced = 400'000;
constexpr std::size_t kMostPairs = 64;
// Switches from which on it pays to look for a later one with the same effect.
constexpr std::size_t kManySwitches = 64;
// The part of the switches that are exchanged first, in long runs.
constexpr std::size_t kSmallestEnd = 64;
constexpr std::size_t kPairsOfLong = 4;
// Positions tried within a window; runs that are long enough for checkpoints cost more.
constexpr std::uint64_t kInner = 64;
constexpr std::uint64_t kInnerOfLong = 8;
constexpr std::size_t kFuzzJobs = 1000;
constexpr std::size_t kFuzzRound = 16;
constexpr std::size_t kFuzzJobsOfLong = 100;
// A recording that took so many seconds, with all that starting and recording cost.
constexpr double kClearlyLong = 4 * kLongRun;

double seconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

struct Side {
  Schedule schedule;
  Clock end;  // of its run, or where nothing was left to be switched
};

// What is given: a recording, or a program and a schedule.
struct Subject {
  std::optional<Recording> recording;
  LaunchPlan plan;
  Schedule failing;
  HuntInput input;

  std::uint64_t number() const { return recording ? recording->number : 0; }
};

Clock end_of(const abi::JobResult& result) { return {result.company}; }

unsigned __int128 difference_of(const Counts& passing, const Counts& failing) {
  unsigned __int128 sum = 0;
  for (std::size_t i = 0; i < passing.size(); ++i) sum += failing[i] - passing[i];
  return sum;
}

std::string decimal(unsigned __int128 number) {
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    number /= 10;
  } while (number != 0);
  return digits;
}

// Paper 1, definition 14: differences are tested by running the program.
class ScheduleOracle final : public DdOracle {
 public:
  ScheduleOracle(Trials& trials, const ScheduleDifference& difference)
      : trials_(trials),
        difference_(difference),
        passing_(difference.sizes().size(), 0),
        failing_(difference.sizes()) {}

  Trial test(const Counts& applied) override {
    const auto run = trials_.run_one(*difference_.apply(applied), next_);
    if (!run) error_ = run.error();
    if (!run || !*run) return Trial::kUnresolved;
    if ((*run)->outcome == Trial::kPass && std::ranges::equal(passing_, applied, std::less_equal()))
      passing_ = applied;
    if ((*run)->outcome == Trial::kFail &&
        std::ranges::equal(failing_, applied, std::greater_equal()))
      failing_ = applied;
    return (*run)->outcome;
  }

  std::optional<Trial> known(const Counts& applied) override {
    if (difference_.apply(applied)) return std::nullopt;
    return Trial::kUnresolved;
  }

  void expect(const Counts&, std::span<const Counts> if_pass,
              std::span<const Counts> if_fail) override {
    next_.clear();
    for (const auto& list : {if_pass, if_fail})
      for (const Counts& counts : list)
        if (auto schedule = difference_.apply(counts)) next_.push_back(std::move(*schedule));
  }

  bool go_on() override { return !error_ && !trials_.stopped(); }

  const std::optional<Error>& error() const { return error_; }
  // What is left between the best of both sides so far.
  unsigned __int128 left() const { return difference_of(passing_, failing_); }

 private:
  Trials& trials_;
  const ScheduleDifference& difference_;
  std::vector<Schedule> next_;
  Counts passing_;
  Counts failing_;
  std::optional<Error> error_;
};

class Isolation {
 public:
  Isolation(const IsolateOptions& options, RecordingStore& store, IsolateObserver& observer,
            Subject subject, Judge judge)
      : options_(options),
        store_(store),
        observer_(observer),
        subject_(std::move(subject)),
        plan_(plan_for(subject_.plan)),
        recorder_(plan_, subject_.input, store, judge),
        trials_(trial_options(), subject_.input, recorder_, judge, [this] { return pulse(); }),
        started_(seconds_now()) {}

  Result<IsolateResult> run();

 private:
  static LaunchPlan plan_for(LaunchPlan plan) {
    plan.flags &= ~static_cast<std::uint32_t>(abi::kFlagReplay);
    plan.flags |= abi::kFlagFromMain;
    plan.output = OutputMode::kCaptureOnly;
    plan.follow = {};
    return plan;
  }

  TrialOptions trial_options() const {
    TrialOptions options{.plan = plan_,
                         .criteria = options_.criteria,
                         .any_failure = options_.any_failure,
                         .jobs = options_.jobs,
                         .checkpoints = options_.checkpoints};
    if (subject_.recording && subject_.recording->meta.wall_seconds > kClearlyLong) {
      options.long_run = true;
      options.expected_end = subject_.recording->meta.summary.clock;
    }
    return options;
  }

  bool pulse();
  Result<void> work();
  Result<std::optional<Side>> passing_for(const Side& failing);
  Result<std::optional<Side>> given_passing();
  Result<std::optional<Side>> recorded_passing(const std::string& selector);
  Result<std::optional<Side>> passing_side(Schedule schedule);
  Result<std::optional<Side>> fuzzed_passing(const Side& failing);
  Result<void> make_simple();
  Result<Simplified> simplified(Script script);
  Result<std::optional<Side>> without_one(const Script& script);
  Result<std::optional<Script>> script_of_job(const JobPlan& plan);
  Result<std::optional<Script>> script_of_schedule(const Schedule& schedule);
  Result<std::optional<Side>> side_of(const Script& script, Verdict verdict);
  Result<void> narrow();
  Result<void> narrow_once(const ScheduleDifference& difference);
  Result<void> make_late();
  Result<bool> keep();
  Result<void> explain();
  void explain_switches(Explainer& failing, Explainer& passing,
                        std::span<const TraceEvent> failing_trace,
                        std::span<const TraceEvent> passing_trace);
  Result<std::optional<EventPair>> find_pair(Explainer& explainer,
                                             std::span<const TraceEvent> failing_trace,
                                             std::span<const TraceEvent> passing_trace);
  Result<void> explain_preemptions(Explainer& explainer);
  Result<void> find_callers(const std::map<std::size_t, std::uint64_t>& begins);
  Result<std::optional<RecordedJob>> record(const JobPlan& plan, Verdict verdict,
                                            std::vector<std::uint64_t> queries);
  void doubt(std::string text) { result_.doubts.push_back(std::move(text)); }

  const IsolateOptions& options_;
  RecordingStore& store_;
  IsolateObserver& observer_;
  Subject subject_;
  LaunchPlan plan_;
  HuntRecorder recorder_;
  Trials trials_;
  Interrupts interrupts_;
  double started_;
  const char* stage_ = "running the failing schedule";
  const ScheduleOracle* oracle_ = nullptr;

  Side failing_;
  Side passing_;
  Script script_;  // simplified: of the failing side
  std::vector<ScheduleDifference::Group> groups_;
  DdResult isolated_;
  std::optional<RecordedJob> failing_record_;
  std::optional<RecordedJob> passing_record_;
  IsolateResult result_;
};

bool Isolation::pulse() {
  const double passed = seconds_now() - started_;
  if (const int signal = interrupts_.take(); signal != 0) result_.interrupted_by = signal;
  IsolateStatus status;
  status.stage = stage_;
  status.tests = trials_.runs();
  status.seconds = passed;
  if (oracle_ != nullptr) {
    const unsigned __int128 left = oracle_->left();
    status.deltas_left = decimal(left);
    status.tests_left = left > UINT64_MAX ? 64 : std::bit_width(static_cast<std::uint64_t>(left));
  }
  observer_.status(status);
  const bool limit = (options_.seconds > 0 && passed >= options_.seconds) ||
                     (options_.tests != 0 && trials_.runs() >= options_.tests);
  if (limit || result_.interrupted_by != 0) result_.complete = false;
  return result_.complete;
}

Result<std::optional<RecordedJob>> Isolation::record(const JobPlan& plan, Verdict verdict,
                                                     std::vector<std::uint64_t> queries) {
  std::ranges::sort(queries);
  const auto repeated = std::ranges::unique(queries);
  queries.erase(repeated.begin(), repeated.end());
  const std::string origin = subject_.recording
                                 ? fmt::format("isolated from recording {}", subject_.number())
                                 : "isolated from a schedule";
  auto recorded = recorder_.record({plan, {}, kAllChoices, plan_.pool, origin, queries}, verdict);
  if (recorder_.interrupted_by() != 0) {
    result_.interrupted_by = recorder_.interrupted_by();
    result_.complete = false;
  }
  if (recorded && *recorded) trials_.count_elsewhere((*recorded)->run.summary.clock);
  return recorded;
}

// ---- The two sides

Result<std::optional<Side>> Isolation::side_of(const Script& script, Verdict verdict) {
  auto recorded = record(job_of(script), verdict, {});
  if (!recorded) return std::unexpected(recorded.error());
  if (!*recorded) return std::nullopt;
  if (auto removed = store_.remove((*recorded)->number); !removed)
    return std::unexpected(removed.error());
  const auto run = trials_.run_one((*recorded)->schedule, {});
  if (!run) return std::unexpected(run.error());
  if (!*run) return std::nullopt;
  return Side{std::move((*recorded)->schedule), end_of((*run)->result)};
}

Result<std::optional<Script>> Isolation::script_of_job(const JobPlan& plan) {
  auto recorded = record(plan, Verdict::kFail, {});
  if (!recorded) return std::unexpected(recorded.error());
  if (!*recorded) return std::nullopt;
  if (auto removed = store_.remove((*recorded)->number); !removed)
    return std::unexpected(removed.error());
  return script_of_schedule((*recorded)->schedule);
}

// Nothing: it does not fail, or stopped.
Result<std::optional<Script>> Isolation::script_of_schedule(const Schedule& schedule) {
  JobPlan plan = job_of(schedule);
  plan.flags |= abi::kJobTrace;
  const auto runs = trials_.run({&plan, 1});
  if (!runs) return std::unexpected(runs.error());
  if (runs->empty() || runs->front().outcome != Trial::kFail) return std::nullopt;
  return script_of(runs->front().trace);
}

// The simplified schedule without one of its items, the last that will do.
Result<std::optional<Side>> Isolation::without_one(const Script& script) {
  std::vector<Script> scripts;
  std::vector<JobPlan> plans;
  for (std::size_t i = script.size(); i-- > 0;) {
    Script rest = script;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    plans.push_back(job_of(rest));
    scripts.push_back(std::move(rest));
  }
  const auto runs = trials_.run(plans);
  if (!runs) return std::unexpected(runs.error());
  for (std::size_t i = 0; i < runs->size(); ++i)
    if ((*runs)[i].outcome == Trial::kPass) return side_of(scripts[i], Verdict::kPass);
  return std::nullopt;
}

Result<Simplified> Isolation::simplified(Script script) {
  auto simple = simplify(trials_, std::move(script));
  if (!simple) return simple;
  auto waiting = with_waits(trials_, simple->script);
  if (!waiting) return std::unexpected(waiting.error());
  simple->script = std::move(*waiting);
  return simple;
}

Result<void> Isolation::make_simple() {
  stage_ = "simplifying";
  auto script = script_of_schedule(subject_.failing);
  if (!script) return std::unexpected(script.error());
  if (!*script) return {};
  auto simple = simplified(std::move(**script));
  if (!simple) return std::unexpected(simple.error());
  bool fewest = simple->minimal && preemptions_of(simple->script) <= 1;
  while (!trials_.stopped() && !fewest) {
    auto fewer = look_for_fewer(trials_, simple->script,
                                [this](const JobPlan& plan) -> Result<std::optional<Script>> {
                                  auto found = script_of_job(plan);
                                  if (!found || !*found) return found;
                                  return with_waits(trials_, std::move(**found));
                                });
    if (!fewer) return std::unexpected(fewer.error());
    fewest = fewer->none;
    if (!fewer->script) break;
    simple = simplified(std::move(*fewer->script));
    if (!simple) return std::unexpected(simple.error());
    fewest = simple->minimal && preemptions_of(simple->script) <= 1;
  }
  auto failing = side_of(simple->script, Verdict::kFail);
  if (!failing) return std::unexpected(failing.error());
  if (!*failing) {
    doubt("the simplified schedule did not fail in a process of its own; the original is used");
    return {};
  }
  result_.simplified = true;
  result_.simplest = preemptions_of(simple->script);
  result_.fewest = fewest;
  failing_ = std::move(**failing);
  script_ = std::move(simple->script);
  return {};
}

Result<std::optional<Side>> Isolation::recorded_passing(const std::string& selector) {
  auto replay = prepare_replay(selector);
  if (!replay) return std::unexpected(replay.error());
  const Meta& meta = replay->recording.meta;
  const Meta& failing = subject_.recording->meta;
  if (!(meta.identity == failing.identity) || meta.arguments != failing.arguments)
    return fail(ErrorCode::kBadInput,
                fmt::format("recordings {} and {} are of different programs or arguments",
                            replay->recording.number, subject_.number()));
  auto schedule = to_schedule(replay->plan.follow);
  if (!schedule) return std::unexpected(schedule.error());
  // A long run is not made again only to see what its recording says; in the end the passing side
  // is run anyway.
  if (trials_.has_checkpoints() && meta.summary.outcome == Outcome::kPass &&
      !options_.criteria.need_output())
    return Side{std::move(*schedule), {meta.summary.clock}};
  return passing_side(std::move(*schedule));
}

Result<std::optional<Side>> Isolation::passing_side(Schedule schedule) {
  const auto run = trials_.run_one(schedule, {});
  if (!run) return std::unexpected(run.error());
  if (!*run || (*run)->outcome != Trial::kPass) return std::nullopt;
  return Side{std::move(schedule), end_of((*run)->result)};
}

// Paper 1, section 5: the failing schedule, perturbed ever more widely until the program passes.
Result<std::optional<Side>> Isolation::fuzzed_passing(const Side& failing) {
  FuzzSearch fuzz(failing.schedule, Verdict::kPass, failing.end.value, options_.seed,
                  options_.sigma);
  const std::size_t most = trials_.has_checkpoints() ? kFuzzJobsOfLong : kFuzzJobs;
  for (std::size_t tried = 0; tried < most;) {
    std::vector<JobPlan> plans = fuzz.next(kFuzzRound);
    if (plans.empty()) break;
    for (JobPlan& plan : plans) plan.flags |= abi::kJobLoose;
    const auto runs = trials_.run(plans);
    if (!runs) return std::unexpected(runs.error());
    if (runs->empty()) return std::nullopt;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const TrialRun& run = (*runs)[i];
      if (run.outcome == Trial::kPass)
        return Side{FuzzSearch::schedule_of(plans[i]), end_of(run.result)};
      fuzz.learn(plans[i], {run.result, Verdict::kFail, false, {}});
    }
    tried += plans.size();
  }
  return std::nullopt;
}

Result<std::optional<Side>> Isolation::given_passing() {
  Result<std::optional<Side>> given;
  if (subject_.recording) {
    given = recorded_passing(*options_.passing);
  } else {
    auto schedule = load_schedule(*options_.passing);
    if (!schedule) return std::unexpected(schedule.error());
    given = passing_side(std::move(*schedule));
  }
  if (given && !*given && !trials_.stopped())
    return fail(ErrorCode::kBadInput, "the passing schedule does not pass when it is run",
                "leave it out: clew looks for one");
  return given;
}

Result<std::optional<Side>> Isolation::passing_for(const Side& failing) {
  if (options_.passing) return given_passing();
  if (result_.simplified && !script_.empty()) {
    auto less = without_one(script_);
    if (!less || *less) return less;
  }
  stage_ = "looking for a passing schedule";
  // A hunt keeps the passing one close to a failing one under the number before.
  if (!result_.simplified && subject_.number() > 1) {
    const std::string before = std::to_string(subject_.number() - 1);
    const auto listed = store_.load(before);
    if (listed && listed->meta.summary.outcome == Outcome::kPass) {
      auto kept = recorded_passing(before);
      if (kept && *kept) return kept;
    }
  }
  auto without_switches = passing_side({});
  if (!without_switches) return without_switches;
  if (!*without_switches || !result_.simplified) {
    auto fuzzed = fuzzed_passing(failing);
    if (!fuzzed || *fuzzed) return fuzzed;
  }
  return without_switches;
}

// ---- Narrowing

const TraceEvent* decision_at(std::span<const TraceEvent> trace, std::uint64_t clock,
                              std::uint8_t flags) {
  for (const TraceEvent& event : trace)
    if (event.kind == StepKind::kDecision && event.clock == clock && event.flags == flags)
      return &event;
  return nullptr;
}

// Where tests go on from checkpoints, those that part late cost little: before the middle is tried,
// ever longer ends of the schedules are exchanged. Gives the number of tests.
std::uint64_t approach_from_the_end(ScheduleOracle& oracle, Counts& passing, Counts& failing) {
  const Counts sizes = failing;
  std::uint64_t tests = 0;
  for (std::size_t part = kSmallestEnd; part >= 2 && oracle.go_on(); part /= 2) {
    const std::size_t kept = sizes.size() - sizes.size() / part;
    if (kept == sizes.size()) continue;
    Counts counts = sizes;
    std::fill(counts.begin() + static_cast<std::ptrdiff_t>(kept), counts.end(), 0);
    if (oracle.known(counts)) continue;
    oracle.expect(counts, {}, {});
    const Trial outcome = oracle.test(counts);
    ++tests;
    if (outcome == Trial::kFail) failing = std::move(counts);
    if (outcome != Trial::kPass) continue;
    passing = std::move(counts);
    break;
  }
  return tests;
}

Result<void> Isolation::narrow_once(const ScheduleDifference& difference) {
  ScheduleOracle oracle(trials_, difference);
  oracle_ = &oracle;
  const Counts sizes = difference.sizes();
  Counts passing(sizes.size(), 0);
  Counts failing = sizes;
  if (trials_.has_checkpoints()) result_.tests += approach_from_the_end(oracle, passing, failing);
  isolated_ = dd(oracle, std::move(passing), std::move(failing),
                 options_.tests != 0 ? options_.tests : UINT64_MAX);
  oracle_ = nullptr;
  result_.tests += isolated_.tests;
  if (oracle.error()) return std::unexpected(*oracle.error());
  failing_.schedule = *difference.apply(isolated_.failing);
  passing_.schedule = *difference.apply(isolated_.passing);
  result_.minimal = isolated_.minimal;
  result_.deltas_left = decimal(difference_of(isolated_.passing, isolated_.failing));
  return {};
}

// In a schedule by the clock, a switch that comes one event later shifts the course of its two
// threads against each other for the rest of the run, and what fails may be far behind it. The same
// shift can be made at any later switch between the two. This takes the last that still decides:
// the one next to the cause. (Not in the paper, whose passing and failing side are the answer.)
Result<void> Isolation::make_late() {
  const auto remaining =
      std::ranges::mismatch(isolated_.passing, isolated_.failing).in1 - isolated_.passing.begin();
  const ScheduleDifference::Group& group = groups_[static_cast<std::size_t>(remaining)];
  if (result_.deltas_left != "1" || group.kind != ScheduleDifference::Kind::kMove ||
      failing_.schedule.switches.size() < kManySwitches || trials_.stopped())
    return {};
  const Clock fails = failing_.schedule.switches[group.index].clock;
  const Clock passes = passing_.schedule.switches[group.index].clock;
  const auto traced = trials_.run_traced(failing_.schedule, fails.value, 0);
  if (!traced) return std::unexpected(traced.error());
  if (!*traced) return {};
  const TraceEvent* parting = decision_at((*traced)->trace, fails.value, 0);
  if (parting == nullptr) return {};
  // Schedules with the shift at later and later switches.
  std::vector<Schedule> shifted{passing_.schedule};
  std::size_t at = group.index;
  for (const TraceEvent& event : (*traced)->trace) {
    const bool same = event.thread == parting->thread && event.object == parting->object;
    const bool reverse = event.thread == parting->object && event.object == parting->thread;
    if (event.kind != StepKind::kDecision || event.flags != 0 || event.clock <= fails.value ||
        (!same && !reverse))
      continue;
    const std::vector<Switch>& switches = failing_.schedule.switches;
    while (at < switches.size() && switches[at].clock.value < event.clock) ++at;
    if (at == switches.size() || switches[at].clock.value != event.clock) continue;
    Schedule schedule = failing_.schedule;
    if ((passes > fails) == same)
      ++schedule.switches[at].clock.value;
    else
      --schedule.switches[at].clock.value;
    if (std::ranges::is_sorted(schedule.switches, {}, &Switch::clock))
      shifted.push_back(std::move(schedule));
  }
  stage_ = "following the difference to its effect";
  std::size_t passing = 0;
  std::size_t failing = shifted.size();
  while (failing - passing > 1) {
    const std::size_t middle = std::midpoint(passing, failing);
    const Schedule next[] = {shifted[std::midpoint(passing, middle)],
                             shifted[std::midpoint(middle, failing)]};
    const auto run = trials_.run_one(shifted[middle], next);
    if (!run) return std::unexpected(run.error());
    if (!*run) return {};
    ++result_.tests;
    ((*run)->outcome == Trial::kPass ? passing : failing) = middle;
  }
  if (passing == 0) return {};
  passing_.schedule = std::move(shifted[passing]);
  const ScheduleDifference difference(passing_.schedule, passing_.end, failing_.schedule,
                                      failing_.end);
  groups_ = difference.groups();
  isolated_.passing.assign(groups_.size(), 0);
  isolated_.failing = difference.sizes();
  return {};
}

Result<void> Isolation::narrow() {
  stage_ = "isolating";
  const ScheduleDifference difference(passing_.schedule, passing_.end, failing_.schedule,
                                      failing_.end);
  result_.deltas = difference.total();
  groups_ = difference.groups();
  if (groups_.empty())
    return fail(ErrorCode::kBadInput, "the failing and the passing schedule are the same",
                "the program does not do the same each time it is run");
  if (auto done = narrow_once(difference); !done) return done;
  if (auto done = make_late(); !done) return done;
  auto kept = keep();
  if (!kept) return std::unexpected(kept.error());
  if (*kept || !trials_.has_cut() || trials_.stopped()) return {};
  // Some run that was taken to pass before it was over fails later.
  trials_.run_to_the_end();
  groups_ = difference.groups();
  if (auto done = narrow_once(difference); !done) return done;
  if (auto done = make_late(); !done) return done;
  kept = keep();
  if (!kept) return std::unexpected(kept.error());
  return {};
}

// Records both sides, in processes of their own, to the end. False: the passing one does not pass.
Result<bool> Isolation::keep() {
  std::vector<std::uint64_t> failing_clocks;
  std::vector<std::uint64_t> passing_clocks;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (isolated_.passing[g] == isolated_.failing[g]) continue;
    if (failing_clocks.size() == kMostPreemptions) break;
    const ScheduleDifference::Group& group = groups_[g];
    if (group.kind == ScheduleDifference::Kind::kChoice) {
      const Choice& choice = group.failing_choice ? *group.failing_choice : *group.passing_choice;
      failing_clocks.push_back(choice.clock.value);
      passing_clocks.push_back(choice.clock.value);
      continue;
    }
    failing_clocks.push_back(failing_.schedule.switches[group.index].clock.value);
    passing_clocks.push_back(passing_.schedule.switches[group.index].clock.value);
  }
  if (failing_.schedule.switches.size() <= kMostPreemptions)
    for (const Switch& item : failing_.schedule.switches)
      failing_clocks.push_back(item.clock.value);
  stage_ = "recording both sides";
  if (auto reserved = recorder_.reserve_for_passing(); !reserved)
    return std::unexpected(reserved.error());
  auto failing = record(job_of(failing_.schedule), Verdict::kFail, failing_clocks);
  if (!failing) return std::unexpected(failing.error());
  auto passing = record(job_of(passing_.schedule), Verdict::kPass, passing_clocks);
  if (!passing) return std::unexpected(passing.error());
  if (!*passing && *failing && trials_.has_cut()) {
    if (auto removed = store_.remove((*failing)->number); !removed)
      return std::unexpected(removed.error());
    return false;
  }
  failing_record_ = std::move(*failing);
  passing_record_ = std::move(*passing);
  return passing_record_.has_value();
}

// ---- Explaining

struct Handover {
  std::optional<Standpoint> from;
  std::optional<Standpoint> next;
};

// Who is preempted at this clock, and who goes on.
Handover handover(Explainer& explainer, std::span<const TraceEvent> trace, std::uint64_t clock,
                  std::uint8_t flags) {
  const TraceEvent* decision = decision_at(trace, clock, flags);
  Handover over;
  if (decision != nullptr) {
    over.from = explainer.standing(clock, explainer.thread(decision->thread));
    over.next = explainer.running(clock);
  } else {
    over.from = explainer.running(clock);
  }
  return over;
}

std::string text_of(const std::optional<ThreadId>& thread) { return thread ? thread->text() : ""; }

std::string text_of(const Choice& choice) {
  return fmt::format("{}{}{}", to_word(choice.kind), choice.thread ? " " : "",
                     text_of(choice.thread));
}

void Isolation::explain_switches(Explainer& failing, Explainer& passing,
                                 std::span<const TraceEvent> failing_trace,
                                 std::span<const TraceEvent> passing_trace) {
  using Kind = ScheduleDifference::Kind;
  const std::uint64_t passing_end = passing_record_->run.summary.clock;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (isolated_.passing[g] == isolated_.failing[g]) continue;
    const ScheduleDifference::Group& group = groups_[g];
    IsolatedSwitch one;
    one.index = group.index + 1;
    one.changes = isolated_.failing[g] - isolated_.passing[g];
    std::uint64_t pass_clock = 0;
    std::uint8_t flags = 0;
    if (group.kind == Kind::kChoice) {
      const Choice& choice = group.failing_choice ? *group.failing_choice : *group.passing_choice;
      one.kind = IsolatedSwitch::Kind::kChoice;
      one.choice = text_of(choice);
      one.in_failing = group.failing_choice.has_value();
      one.fail_clock = pass_clock = choice.clock.value;
      flags = static_cast<std::uint8_t>(1 + static_cast<unsigned>(choice.kind));
      if (group.failing_choice) one.fail_to = text_of(group.failing_choice->thread);
      if (group.passing_choice) one.pass_to = text_of(group.passing_choice->thread);
    } else {
      const Switch& fails = failing_.schedule.switches[group.index];
      const Switch& passes = passing_.schedule.switches[group.index];
      one.kind =
          group.kind == Kind::kMove ? IsolatedSwitch::Kind::kMove : IsolatedSwitch::Kind::kTarget;
      one.fail_clock = fails.clock.value;
      pass_clock = passes.clock.value;
      one.fail_to = text_of(fails.to);
      one.pass_to = text_of(passes.to);
    }
    if (pass_clock <= passing_end) one.pass_clock = pass_clock;
    Handover over = handover(failing, failing_trace, one.fail_clock, flags);
    if (over.from) one.fail_from = std::move(*over.from);
    one.fail_next = std::move(over.next);
    if (one.pass_clock) {
      over = handover(passing, passing_trace, pass_clock, flags);
      one.pass_from = std::move(over.from);
      one.pass_next = std::move(over.next);
    }
    result_.switches.push_back(std::move(one));
  }
}

// The last pair whose order decides, by running; otherwise the first there is.
Result<std::optional<EventPair>> Isolation::find_pair(Explainer& explainer,
                                                      std::span<const TraceEvent> failing_trace,
                                                      std::span<const TraceEvent> passing_trace) {
  stage_ = "looking for the events whose order decides";
  const std::vector<EventPair> pairs = flipped_pairs(failing_trace, passing_trace, kMostPairs);
  if (pairs.empty()) return std::nullopt;
  const auto schedule_of = [&](const EventPair& pair) -> std::optional<Schedule> {
    const auto first = ThreadId::parse(explainer.thread(pair.first.thread));
    const auto second = ThreadId::parse(explainer.thread(pair.second.thread));
    if (!first || !second) return std::nullopt;
    return flipped(failing_.schedule, failing_trace, pair, *first, *second);
  };
  // Of those that are confirmed the last: the one nearest to the failure.
  EventPair chosen = pairs.front();
  bool confirmed = false;
  const std::size_t first =
      trials_.has_checkpoints() && pairs.size() > kPairsOfLong ? pairs.size() - kPairsOfLong : 0;
  for (std::size_t i = pairs.size(); i-- > first && !confirmed;) {
    const auto schedule = schedule_of(pairs[i]);
    if (!schedule) continue;
    const auto run = trials_.run_one(*schedule, {});
    if (!run) return std::unexpected(run.error());
    if (!*run) break;
    confirmed = (*run)->outcome == Trial::kPass;
    if (confirmed) chosen = pairs[i];
  }
  CriticalPair& found = result_.pair.emplace();
  found.first = explainer.event(chosen.first);
  found.second = explainer.event(chosen.second);
  found.confirmed = confirmed;
  if (const auto guarded = guarded_pair(failing_trace, passing_trace, pairs, chosen)) {
    found.guarded_first = explainer.event(guarded->first);
    found.guarded_second = explainer.event(guarded->second);
  }
  return chosen;
}

Result<void> Isolation::explain_preemptions(Explainer& explainer) {
  const JobPlan plan = [&] {
    JobPlan job = job_of(failing_.schedule);
    job.flags |= abi::kJobTrace;
    return job;
  }();
  if (failing_record_->run.summary.preemptions > kMostPreemptions) return {};
  // Unless it is asked for, not worth whole runs.
  if (trials_.has_checkpoints() && !result_.simplified) return {};
  stage_ = "finding out how far each switch can be moved";
  const auto runs = trials_.run({&plan, 1});
  if (!runs) return std::unexpected(runs.error());
  if (runs->empty()) return {};
  const Script script = script_of(runs->front().trace);
  std::map<std::size_t, std::uint64_t> begins;  // of windows: a clock just before, by preemption
  std::size_t item = 0;
  for (const TraceEvent& event : runs->front().trace) {
    if (event.kind != StepKind::kDecision) continue;
    const std::size_t at = item++;
    if (event.flags != 0) continue;
    PreemptionInfo info;
    info.clock = event.clock;
    info.to = explainer.thread(event.object);
    if (auto from = explainer.standing(event.clock, explainer.thread(event.thread)))
      info.from = std::move(*from);
    info.next = explainer.running(event.clock);
    const auto window =
        window_of(trials_, script, at, trials_.has_checkpoints() ? kInnerOfLong : kInner);
    if (!window) return std::unexpected(window.error());
    if (*window) {
      const Window& found = (*window)->window;
      SwitchWindow& shown = info.window.emplace();
      shown.after = explainer.location((*window)->before);
      shown.first = explainer.location((*window)->first);
      shown.last = explainer.location((*window)->last);
      shown.positions = found.last - found.first + 1;
      shown.tested = found.tested;
      // Within one slice the clock counts the thread's own events.
      const std::uint64_t back = event.own - found.first + 1;
      if (found.first > 1 && back < event.clock)
        begins[result_.preemptions.size()] = event.clock - back;
    }
    result_.preemptions.push_back(std::move(info));
  }
  return find_callers(begins);
}

// Where the threads stood before the windows began, and so in which calls they are interrupted.
Result<void> Isolation::find_callers(const std::map<std::size_t, std::uint64_t>& begins) {
  if (begins.empty() || trials_.stopped()) return {};
  auto replay = prepare_replay(std::to_string(failing_record_->number));
  if (!replay) return std::unexpected(replay.error());
  replay->plan.output = OutputMode::kCaptureOnly;
  for (const auto& [preemption, clock] : begins) replay->plan.queries.push_back(clock);
  std::ranges::sort(replay->plan.queries);
  RunObserver quiet;
  const auto run = run_replay(*replay, quiet);
  if (!run) return std::unexpected(run.error());
  trials_.count_elsewhere(run->summary.clock);
  Explainer explainer(*run);
  for (const auto& [preemption, clock] : begins) {
    PreemptionInfo& info = result_.preemptions[preemption];
    const auto before = explainer.running(clock);
    if (!before || before->thread != info.from.thread) continue;
    // In a header of a library nobody finds himself.
    if (const SourceFrame* frame = Symbolizer::user_frame(before->stack))
      info.window->after = location_of(*frame);
    const auto shared = shared_call(before->stack, info.from.stack);
    if (!shared) continue;
    info.window->caller_first = shared->first;
    info.window->caller_last = shared->second;
  }
  return {};
}

Result<void> Isolation::explain() {
  if (!failing_record_ || !passing_record_) {
    doubt(failing_record_ ? "the passing side did not pass in a process of its own"
                          : "the failing side did not fail in a process of its own");
    return {};
  }
  result_.failing = failing_record_->number;
  result_.passing = passing_record_->number;
  result_.preemption_count = failing_record_->run.summary.preemptions;
  result_.choice_count = failing_record_->schedule.choices.size();
  if (failing_record_->summary.failure) result_.failure = *failing_record_->summary.failure;
  Explainer failing(failing_record_->run);
  Explainer passing(passing_record_->run);
  // Both runs are the same up to here.
  const std::uint64_t parting = common_until(failing_.schedule, passing_.schedule);
  const auto failing_run = trials_.run_traced(failing_.schedule, parting, parting + kTraced);
  if (!failing_run) return std::unexpected(failing_run.error());
  const auto passing_run = trials_.run_traced(passing_.schedule, parting, parting + kTraced);
  if (!passing_run) return std::unexpected(passing_run.error());
  const bool traced = *failing_run && *passing_run;
  const std::vector<TraceEvent> nothing;
  const std::vector<TraceEvent>& failing_trace = traced ? (*failing_run)->trace : nothing;
  const std::vector<TraceEvent>& passing_trace = traced ? (*passing_run)->trace : nothing;
  explain_switches(failing, passing, failing_trace, passing_trace);
  result_.waits = failing.waits();
  if (!traced) return {};
  const auto pair = find_pair(failing, failing_trace, passing_trace);
  if (!pair) return std::unexpected(pair.error());
  result_.failing_course = failing.course(failing_trace, *pair);
  result_.passing_course = passing.course(passing_trace, *pair);
  return explain_preemptions(failing);
}

Result<void> Isolation::work() {
  const auto failure = trials_.set_failure(subject_.failing);
  if (!failure) return std::unexpected(failure.error());
  if (trials_.stopped()) return {};
  if (subject_.recording && subject_.recording->meta.summary.failure)
    result_.failure = *subject_.recording->meta.summary.failure;
  failing_ = {subject_.failing, end_of(failure->result)};
  result_.original_preemptions = failure->result.preemptions;
  if (options_.simplify)
    if (auto done = make_simple(); !done) return done;
  auto passing = passing_for(failing_);
  if (!passing) return std::unexpected(passing.error());
  if (trials_.stopped()) return {};
  if (!*passing) {
    result_.always_fails = true;
    return {};
  }
  passing_ = std::move(**passing);
  if (auto done = narrow(); !done) return done;
  return explain();
}

Result<IsolateResult> Isolation::run() {
  result_.original = subject_.number();
  if (auto done = work(); !done) return std::unexpected(done.error());
  if (!result_.minimal && !result_.switches.empty())
    doubt("it was stopped before the difference was as small as it can be");
  result_.cost_runs = trials_.cost_runs();
  result_.seconds = seconds_now() - started_;
  result_.notes = trials_.notes();
  return std::move(result_);
}

Result<std::string> newest_failing(const RecordingStore& store) {
  const auto list = store.list();
  if (!list) return std::unexpected(list.error());
  for (const Listed& one : *list) {
    if (!one.meta) continue;
    const RunSummary& summary = one.meta->summary;
    const bool failed = summary.outcome == Outcome::kFail || summary.outcome == Outcome::kHang ||
                        one.meta->origin.find(kByCriteria) != std::string::npos;
    if (failed) return std::to_string(one.number);
  }
  return fail(ErrorCode::kUsage, "there is no recording of a failure here",
              "clew hunt finds one; clew debug does all of it");
}

Result<Subject> recorded_subject(const IsolateOptions& options, const RecordingStore& store) {
  std::string selector = options.failing;
  if (selector.empty()) {
    auto newest = newest_failing(store);
    if (!newest) return std::unexpected(newest.error());
    selector = std::move(*newest);
  }
  auto replay = prepare_replay(selector);
  if (!replay) return std::unexpected(replay.error());
  auto schedule = to_schedule(replay->plan.follow);
  if (!schedule) return std::unexpected(schedule.error());
  auto input = HuntInput::of_recording(replay->recording);
  if (!input) return std::unexpected(input.error());
  return Subject{std::move(replay->recording), std::move(replay->plan), std::move(*schedule),
                 std::move(*input)};
}

Result<Subject> given_subject(const IsolateOptions& options) {
  auto schedule = load_schedule(options.failing);
  if (!schedule) return std::unexpected(schedule.error());
  auto input = HuntInput::from_here();
  if (!input) return std::unexpected(input.error());
  return Subject{std::nullopt, *options.program, std::move(*schedule), std::move(*input)};
}

}  // namespace

Result<IsolateResult> isolate(const IsolateOptions& options, RecordingStore& store,
                              IsolateObserver& observer) {
  auto judge = Judge::create(options.criteria);
  if (!judge) return std::unexpected(judge.error());
  auto subject = options.program ? given_subject(options) : recorded_subject(options, store);
  if (!subject) return std::unexpected(subject.error());
  return Isolation(options, store, observer, std::move(*subject), std::move(*judge)).run();
}

}  // namespace clew
