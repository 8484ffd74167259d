#include "host/cases/lab.h"

#include <algorithm>
#include <utility>

#include "host/search/sampling.h"
#include "host/seconds.h"

namespace clew {
namespace {

constexpr std::uint32_t kTraced = abi::kJobAllPoints | abi::kJobWholeTrace;

// Hands over what others have planned.
class Relay final : public Search {
 public:
  struct State {
    std::vector<JobPlan> plans;
    std::size_t at = 0;
    std::unique_ptr<Search> search;  // null: `plans`
    std::uint64_t left = 0;
    const LabListener* listener = nullptr;
    bool over = false;
    std::uint64_t runs = 0;
  };
  explicit Relay(State& state) : state_(state) {}

  std::vector<JobPlan> next(std::size_t most) override {
    std::vector<JobPlan> plans;
    if (state_.over) return plans;
    if (state_.search) {
      plans = state_.search->next(std::min<std::uint64_t>(most, state_.left));
      state_.left -= std::min<std::uint64_t>(state_.left, plans.size());
    } else {
      while (plans.size() < most && state_.at < state_.plans.size())
        plans.push_back(std::move(state_.plans[state_.at++]));
    }
    for (JobPlan& plan : plans) {
      plan.flags |= kTraced;
      plan.window = {1, UINT64_MAX};
    }
    return plans;
  }
  void learn(const JobPlan& plan, const JobReport& report) override {
    ++state_.runs;
    if (state_.search) state_.search->learn(plan, report);
    if (state_.over) return;
    LabRun run{plan,
               report.verdict,
               report.result,
               report.trace.steps,
               report.trace.decisions,
               report.trace.complete};
    run.plan.flags |= kTraced;
    state_.over = !(*state_.listener)(std::move(run));
  }
  std::string using_now() const override {
    return state_.search ? state_.search->using_now() : "case";
  }

 private:
  State& state_;
};

}  // namespace

Lab::Lab(LabOptions options, HuntObserver& observer)
    : options_(std::move(options)), observer_(observer) {}

bool Lab::time_is_up() const {
  return interrupted_by_ != 0 || (options_.until != 0 && seconds_now() >= options_.until);
}

Result<void> Lab::run(std::unique_ptr<Search> search, std::uint64_t most,
                      const LabListener& listener) {
  Relay::State state;
  state.search = std::move(search);
  state.left = most;
  state.listener = &listener;
  HuntOptions hunt;
  hunt.plan = options_.plan;
  hunt.seed = options_.seed;
  hunt.jobs = options_.jobs;
  hunt.keep_going = true;
  hunt.keep_passing = hunt.keep_failing = false;
  hunt.criteria = options_.criteria;
  hunt.enough = [&] { return state.over; };
  if (options_.until != 0) hunt.seconds = std::max(0.1, options_.until - seconds_now());
  CLEW_TRY(auto input, options_.input());
  CLEW_TRY(auto* store, scratch_.get());
  CLEW_TRY(auto result,
           hunt_with(std::make_unique<Relay>(state), hunt, *store, observer_, std::move(input)));
  runs_ += state.runs;
  if (result.interrupted_by != 0) interrupted_by_ = result.interrupted_by;
  for (std::string& note : result.notes)
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
  return {};
}

Result<void> Lab::run(std::vector<JobPlan> plans, const LabListener& listener) {
  class Listed final : public Search {
   public:
    explicit Listed(std::vector<JobPlan> plans) : plans_(std::move(plans)) {}
    std::vector<JobPlan> next(std::size_t most) override {
      std::vector<JobPlan> some;
      while (some.size() < most && at_ < plans_.size()) some.push_back(std::move(plans_[at_++]));
      return some;
    }
    void learn(const JobPlan&, const JobReport&) override {}
    std::string using_now() const override { return "case"; }

   private:
    std::vector<JobPlan> plans_;
    std::size_t at_ = 0;
  };
  if (plans.empty()) return {};
  return run(std::make_unique<Listed>(std::move(plans)), UINT64_MAX, listener);
}

Result<std::optional<RecordedJob>> Lab::record(const LabRun& run, RecordingStore& store,
                                               Origin origin, std::vector<std::uint64_t> queries) {
  CLEW_TRY(auto judge, Judge::create(options_.criteria));
  CLEW_TRY(const auto input, options_.input());
  LaunchPlan plan = options_.plan;
  plan.output = OutputMode::kCaptureOnly;
  HuntRecorder recorder(plan, input, store, judge);
  auto recorded = recorder.record(
      {run.plan, {}, kAllChoices, plan.pool, std::move(origin), std::move(queries)}, run.verdict);
  if (recorder.interrupted_by() != 0) interrupted_by_ = recorder.interrupted_by();
  return recorded;
}

Result<bool> Lab::learn_sites(const LabRun& run, Sites& sites) {
  CLEW_TRY(auto* store, scratch_.get());
  CLEW_TRY(auto recorded,
           record(run, *store, Origin(), sites.clocks_to_query(run.steps, any_run_.get())));
  if (!recorded || recorded->run.summary.clock != run.result.clock) return false;
  const bool first = any_run_ == nullptr;
  any_run_ = std::make_shared<const RunResult>(std::move(recorded->run));
  sites.add(run.steps, any_run_);
  if (first) sites.add_table(*any_run_);
  return true;
}

Result<std::optional<Schedule>> Lab::schedule_of(const LabRun& run) {
  CLEW_TRY(auto* store, scratch_.get());
  CLEW_TRY(auto recorded, record(run, *store, Origin(), {}));
  if (!recorded) return std::nullopt;
  return std::move(recorded->schedule);
}

Result<std::optional<Failure>> Lab::failure_of(const LabRun& run) {
  CLEW_TRY(auto* store, scratch_.get());
  CLEW_TRY(auto recorded, record(run, *store, Origin(), {}));
  if (!recorded) return std::nullopt;
  return std::move(recorded->summary.failure);
}

JobPlan default_plan() {
  JobPlan plan;
  plan.strategy = abi::StrategyKind::kPlan;
  return plan;
}

std::vector<JobPlan> sample_plans(std::uint64_t seed, std::size_t count, std::uint64_t steps) {
  std::vector<JobPlan> plans;
  for (std::size_t i = 0; i < count; ++i) {
    JobPlan plan;
    plan.strategy = i % 3 == 0   ? abi::StrategyKind::kPos
                    : i % 3 == 1 ? abi::StrategyKind::kPct
                                 : abi::StrategyKind::kRandom;
    plan.seed = job_seed(seed, i);
    if (plan.strategy == abi::StrategyKind::kPct) {
      plan.parameters[abi::kPctDepth] = 2 + i % 2;
      plan.parameters[abi::kPctSteps] = std::max<std::uint64_t>(steps, 1);
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace clew
