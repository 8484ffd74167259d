#include "host/isolate/sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/isolate/effort.h"
#include "host/isolate/fewer.h"
#include "host/isolate/moved.h"
#include "host/isolate/placed.h"
#include "host/isolate/resample.h"
#include "host/isolate/script.h"
#include "host/isolate/simplify.h"
#include "host/schedule/stream.h"
#include "host/search/fuzz_search.h"
#include "host/target/replay.h"

namespace clew {
namespace {

// Chosen, not measured; long runs get fewer.
constexpr std::size_t kFuzzJobs = 1000;
constexpr std::size_t kFuzzRound = 16;
constexpr std::size_t kFuzzJobsOfLong = 100;
constexpr std::size_t kSampledRounds = 32;

class SideFinder {
 public:
  explicit SideFinder(Experiment& experiment) : x_(experiment) {}

  Result<Sides> find();

 private:
  Result<std::optional<Side>> passing_for(const Side& failing);
  Result<std::optional<Side>> near_passing(const Side& failing);
  Result<std::optional<Side>> sampled_passing();
  Result<std::optional<Side>> simple_passing(Schedule schedule);
  Result<std::optional<Side>> given_passing();
  Result<std::optional<Side>> recorded_passing(const std::string& selector);
  Result<std::optional<Side>> passing_side(Schedule schedule);
  Result<std::optional<Side>> fuzzed_passing(const Side& failing);
  Result<void> make_simple();
  void end_simplifying();
  Result<Simplified> simplified(ThreadScript script);
  Result<std::optional<ThreadScript>> script_with_waits(const JobPlan& plan);
  Result<std::optional<ThreadScript>> sampled_again(const ThreadScript& script);
  Result<std::optional<ThreadScript>> simpler(const ThreadScript& script, bool& fewest);
  Result<std::optional<Side>> without_one(const ThreadScript& script);
  Result<std::optional<ThreadScript>> script_of_job(const JobPlan& plan);
  Result<std::optional<ThreadScript>> script_of_schedule(const Schedule& schedule, Verdict verdict);
  Result<std::optional<Side>> side_of(const ThreadScript& script, Verdict verdict);

  Experiment& x_;
  Side failing_;
  ThreadScript script_;  // simplified: of the failing side
  std::uint64_t sampled_ = 0;
};

Result<std::optional<Side>> SideFinder::side_of(const ThreadScript& script, Verdict verdict) {
  CLEW_TRY(auto recorded, x_.record(job_of(script), verdict, {}));
  if (!recorded) return std::nullopt;
  CLEW_CHECK_OK(x_.store.remove(recorded->number));
  CLEW_TRY(const auto run, x_.trials.run_one(recorded->schedule, {}));
  if (!run) return std::nullopt;
  return Side{std::move(recorded->schedule), end_of(run->result)};
}

Result<std::optional<ThreadScript>> SideFinder::script_of_job(const JobPlan& plan) {
  CLEW_TRY(auto recorded, x_.record(plan, Verdict::kFail, {}));
  if (!recorded) return std::nullopt;
  CLEW_CHECK_OK(x_.store.remove(recorded->number));
  return script_of_schedule(recorded->schedule, Verdict::kFail);
}

// Nothing: it has another verdict, stopped, or its decisions are not known.
Result<std::optional<ThreadScript>> SideFinder::script_of_schedule(const Schedule& schedule,
                                                                   Verdict verdict) {
  JobPlan plan = job_of(schedule);
  plan.flags |= abi::kJobWholeTrace;
  CLEW_TRY(const auto runs, x_.trials.run({&plan, 1}));
  if (runs.empty() || runs.front().verdict != verdict) return std::nullopt;
  if (!runs.front().trace.complete) {
    if (verdict == Verdict::kFail)
      x_.doubt("the trace of a failing run is incomplete: its schedule was not simplified");
    return std::nullopt;
  }
  return script_of(runs.front().trace);
}

// The simplified schedule without one of its items, the last that will do.
Result<std::optional<Side>> SideFinder::without_one(const ThreadScript& script) {
  const auto rest = [&](std::size_t number) -> std::optional<ThreadScript> {
    ThreadScript others = script;
    others.erase(others.end() - 1 - static_cast<std::ptrdiff_t>(number));
    return others;
  };
  CLEW_TRY(const auto found, first_with(x_.trials, Verdict::kPass, script.size(), rest));
  if (!found) return std::nullopt;
  return side_of(*found, Verdict::kPass);
}

Result<Simplified> SideFinder::simplified(ThreadScript script) {
  auto simple = simplify(x_.trials, std::move(script));
  if (!simple || x_.trials.stopped()) return simple;
  CLEW_TRY(auto waiting, with_waits(x_.trials, simple->script));
  simple->script = std::move(waiting);
  return simple;
}

// What was found by then is used, and the rest of the isolation has the rest of the limit.
void SideFinder::end_simplifying() {
  x_.simplifying = false;
  if (!x_.trials.stopped() || !x_.result.complete) return;
  x_.doubt("simplifying stopped early to stay within the limit");
  x_.trials.resume();
}

Result<std::optional<ThreadScript>> SideFinder::script_with_waits(const JobPlan& plan) {
  auto found = script_of_job(plan);
  if (!found || !*found) return found;
  return with_waits(x_.trials, std::move(**found));
}

Result<std::optional<ThreadScript>> SideFinder::sampled_again(const ThreadScript& script) {
  return simpler_elsewhere(x_.trials, script, x_.options.seed + sampled_++,
                           [this](const JobPlan& plan) { return script_with_waits(plan); });
}

// One that fails and is simpler; nothing: none was found, or stopped. `fewest`: no schedule with fewer
// preemptions fails, which may turn out here.
Result<std::optional<ThreadScript>> SideFinder::simpler(const ThreadScript& script, bool& fewest) {
  const std::size_t size = script.size();
  const std::size_t preemptions = preemptions_of(script);
  const bool many_runs = !x_.trials.has_checkpoints();
  std::optional<ThreadScript> found;
  const auto is_wanted = [&] { return many_runs && size > 1 && !found && !x_.trials.stopped(); };
  if (is_wanted() && size > kManyItems && sampled_ < samplings(size)) {
    CLEW_TRY(found, sampled_again(script));
  }
  if (is_wanted()) {
    CLEW_TRY(found, one_fewer_by_moving(x_.trials, script));
  }
  if (is_wanted()) {
    CLEW_TRY(found, placed_elsewhere(x_.trials, script));
  }
  if (!found && !fewest) {
    CLEW_TRY(auto fewer, look_for_fewer(x_.trials, script, [this](const JobPlan& plan) {
               return script_with_waits(plan);
             }));
    fewest = fewer.none;
    // One preemption says more than the answers to several questions.
    if (preemptions != 1) found = std::move(fewer.script);
  }
  const bool is_simple = size <= (fewest ? std::max<std::size_t>(preemptions, 1) : 1);
  while (is_wanted() && !is_simple && sampled_ < samplings(size)) {
    CLEW_TRY(found, sampled_again(script));
  }
  return found;
}

Result<void> SideFinder::make_simple() {
  x_.stage = IsolateStage::kSimplifying;
  CLEW_TRY(auto script, script_of_schedule(x_.subject.failing, Verdict::kFail));
  if (!script) return {};
  CLEW_TRY(auto simple, simplified(std::move(*script)));
  bool fewest = preemptions_of(simple.script) == 0;
  while (!x_.trials.stopped()) {
    CLEW_TRY(auto found, simpler(simple.script, fewest));
    if (!found) break;
    CLEW_TRY(simple, simplified(std::move(*found)));
    fewest = preemptions_of(simple.script) == 0;
  }
  if (x_.result.interrupted_by != 0) return {};
  end_simplifying();
  CLEW_TRY(auto failing, side_of(simple.script, Verdict::kFail));
  if (x_.result.interrupted_by != 0) return {};
  if (!failing) {
    x_.doubt("the simplified schedule did not fail in a separate process; the original is used");
    return {};
  }
  x_.result.simplified = true;
  x_.result.simplest = preemptions_of(simple.script);
  x_.result.fewest = fewest;
  failing_ = std::move(*failing);
  script_ = std::move(simple.script);
  return {};
}

Result<std::optional<Side>> SideFinder::recorded_passing(const std::string& selector) {
  CLEW_TRY(auto replay, prepare_replay(selector));
  CLEW_CHECK_OK(check_runs_live(replay.recording));
  const Meta& meta = replay.recording.meta;
  const Meta& failing = x_.subject.recording->meta;
  if (!(meta.identity == failing.identity) || meta.arguments != failing.arguments)
    return fail(ErrorCode::kBadInput,
                fmt::format("recordings {} and {} are of different programs or arguments",
                            replay.recording.number, x_.subject.number()));
  CLEW_TRY(auto schedule, to_schedule(replay.plan.follow));
  // A long run is not made again only to see what its recording says; in the end the passing side
  // is run anyway.
  if (x_.trials.has_checkpoints() && meta.summary.outcome == Outcome::kPass &&
      !x_.options.criteria.need_output())
    return Side{std::move(schedule), {meta.summary.clock}};
  return passing_side(std::move(schedule));
}

Result<std::optional<Side>> SideFinder::passing_side(Schedule schedule) {
  CLEW_TRY(const auto run, x_.trials.run_one(schedule, {}));
  if (!run || run->verdict != Verdict::kPass) return std::nullopt;
  return Side{std::move(schedule), end_of(run->result)};
}

// Choi and Zeller 2002, section 5: the failing schedule, perturbed ever more widely until the
// program passes.
Result<std::optional<Side>> SideFinder::fuzzed_passing(const Side& failing) {
  FuzzSearch fuzz(failing.schedule, Verdict::kPass, failing.end.value, x_.options.seed,
                  x_.options.sigma);
  const bool is_long = x_.trials.has_checkpoints();
  const std::size_t most = is_long ? kFuzzJobsOfLong : kFuzzJobs;
  const std::size_t round = is_long ? 1 : kFuzzRound;
  for (std::size_t tried = 0; tried < most;) {
    const std::vector<JobPlan> plans = fuzz.next(round);
    if (plans.empty()) break;
    CLEW_TRY(const auto runs, x_.trials.run(plans));
    if (runs.empty()) return std::nullopt;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const TrialRun& run = runs[i];
      if (run.verdict == Verdict::kPass)
        return Side{FuzzSearch::schedule_of(plans[i]), end_of(run.result)};
      fuzz.learn(plans[i], {run.result, Verdict::kFail, false, {}});
    }
    tried += plans.size();
  }
  return std::nullopt;
}

// Anywhere among all schedules, when none near the failing one will do.
Result<std::optional<Side>> SideFinder::sampled_passing() {
  if (x_.trials.has_checkpoints()) return std::nullopt;  // that would take long
  for (std::size_t round = 0; round < kSampledRounds; ++round) {
    std::vector<JobPlan> plans;
    for (std::size_t i = 0; i < kFuzzRound; ++i) {
      JobPlan& plan = plans.emplace_back();
      plan.strategy = i % 2 == 0 ? abi::StrategyKind::kRandom : abi::StrategyKind::kPos;
      plan.seed = x_.options.seed + round * kFuzzRound + i;
      plan.flags = abi::kJobAllPoints;
    }
    CLEW_TRY(const auto runs, x_.trials.run(plans));
    if (runs.empty()) return std::nullopt;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].verdict != Verdict::kPass) continue;
      CLEW_TRY(auto recorded, x_.record(plans[i], Verdict::kPass, {}));
      if (!recorded) continue;
      CLEW_CHECK_OK(x_.store.remove(recorded->number));
      return x_.result.simplified ? simple_passing(std::move(recorded->schedule))
                                  : passing_side(std::move(recorded->schedule));
    }
  }
  return std::nullopt;
}

// What is narrowed is then the difference of two simple schedules, and not of one that is simple and
// one with a switch at every other step.
Result<std::optional<Side>> SideFinder::simple_passing(Schedule schedule) {
  CLEW_TRY(auto script, script_of_schedule(schedule, Verdict::kPass));
  if (!script) return passing_side(std::move(schedule));
  CLEW_TRY(auto simple, simplify(x_.trials, std::move(*script), Verdict::kPass));
  CLEW_TRY(auto side, side_of(simple.script, Verdict::kPass));
  return side ? std::move(side) : passing_side(std::move(schedule));
}

Result<std::optional<Side>> SideFinder::given_passing() {
  x_.trials.accept_hiding();
  Result<std::optional<Side>> given;
  if (x_.subject.recording) {
    given = recorded_passing(*x_.options.passing);
  } else {
    CLEW_TRY(auto schedule, load_schedule(*x_.options.passing));
    given = passing_side(std::move(schedule));
  }
  if (given && !*given && !x_.trials.stopped())
    return fail(ErrorCode::kBadInput, "the passing schedule does not pass when it is run",
                "leave it out: clew looks for one");
  return given;
}

Result<std::optional<Side>> SideFinder::passing_for(const Side& failing) {
  if (x_.options.passing) return given_passing();
  for (;;) {
    auto near = near_passing(failing);
    if (!near || *near || x_.trials.stopped()) return near;
    auto sampled = sampled_passing();
    if (!sampled || *sampled || x_.trials.stopped()) return sampled;
    if (x_.trials.accepts_hiding() || !x_.trials.knows_failing_place()) return std::nullopt;
    x_.trials.accept_hiding();
  }
}

Result<std::optional<Side>> SideFinder::near_passing(const Side& failing) {
  if (x_.result.simplified && !script_.empty()) {
    auto less = without_one(script_);
    if (!less || *less) return less;
  }
  x_.stage = IsolateStage::kPassing;
  // A hunt keeps the passing one close to a failing one under the number before.
  if (!x_.result.simplified && x_.subject.number() > 1) {
    const std::string before = std::to_string(x_.subject.number() - 1);
    const auto listed = x_.store.load(before);
    if (listed && listed->meta.summary.outcome == Outcome::kPass) {
      auto kept = recorded_passing(before);
      if (kept && *kept) return kept;
    }
  }
  // What passes without switches at all is far from a schedule with many, and near to a simple one.
  if (!x_.result.simplified) {
    auto fuzzed = fuzzed_passing(failing);
    if (!fuzzed || *fuzzed) return fuzzed;
    return passing_side({});
  }
  if (failing.schedule != Schedule{}) {
    auto without_switches = passing_side({});
    if (!without_switches || *without_switches) return without_switches;
  }
  return fuzzed_passing(failing);
}

Result<Sides> SideFinder::find() {
  if (x_.subject.recording && x_.subject.recording->meta.summary.failure)
    x_.result.failure = *x_.subject.recording->meta.summary.failure;
  CLEW_TRY(const auto failure, x_.trials.set_failure(x_.subject.failing));
  if (x_.trials.stopped()) return Sides{};
  failing_ = {x_.subject.failing, end_of(failure.result)};
  x_.result.original_preemptions = failure.result.preemptions;
  if (x_.options.simplify) {
    x_.simplifying = true;
    CLEW_CHECK_OK(make_simple());
    end_simplifying();
  }
  if (x_.trials.stopped()) return Sides{};
  CLEW_TRY(auto passing, passing_for(failing_));
  return Sides{std::move(failing_), std::move(passing)};
}

}  // namespace

Result<Sides> find_sides(Experiment& experiment) { return SideFinder(experiment).find(); }

}  // namespace clew
