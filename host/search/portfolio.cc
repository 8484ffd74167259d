#include "host/search/portfolio.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "clew_abi/guides.h"
#include "host/search/exhaustive.h"
#include "host/search/period_search.h"
#include "host/search/rff_search.h"
#include "host/search/surw_search.h"

namespace clew {
namespace {

// Which is which in arms_. The shy ones hesitate before updates.
enum ArmNumber : std::uint8_t {
  kSurwArm,
  kTargetArm,
  kPeriodArm,
  kRandomArm,
  kPosArm,
  kRffArm,
  kExhaustiveArm,
  kPctArm,
  kShyPosArm,
  kShyRandomArm,
  kChaosArm,
  kTimerArm
};

// The first turns, and the shares in the constructor: found by computing what they would give from
// how often each search's schedules fail in the generated programs for tuning (docs/hunt.md).
// The optimum is flat. Period is after the exhaustive search, whose first run it needs.
constexpr auto kFirstTurns = std::to_array<ArmNumber>(
    {kRandomArm, kTargetArm,     kTargetArm,     kTargetArm,     kSurwArm,   kTargetArm,
     kSurwArm,   kExhaustiveArm, kPeriodArm,     kPeriodArm,     kSurwArm,   kPeriodArm,
     kSurwArm,   kSurwArm,       kSurwArm,       kExhaustiveArm, kSurwArm,   kSurwArm,
     kPeriodArm, kPeriodArm,     kTargetArm,     kSurwArm,       kPeriodArm, kSurwArm,
     kSurwArm,   kRffArm,        kExhaustiveArm, kSurwArm,       kPeriodArm, kSurwArm,
     kRffArm,    kPeriodArm,     kSurwArm,       kPeriodArm,     kRffArm,    kPosArm});
constexpr std::uint64_t kEarlyEnd = 250;  // in schedules
// Where the long run begins, in schedules. Chosen: most bugs that surw finds at all it has found.
constexpr std::uint64_t kMainEnd = 2000;

// Of updates, in percent. In a model of SafeStack pos fails most often with 30 (20 and 50: a fifth less).
constexpr std::uint32_t kShyWeight = 30;
// The rest is chosen, not measured.
constexpr std::uint32_t kDepth = 3;       // of pct
constexpr std::uint32_t kBound = 2;       // preemptions of the exhaustive search
constexpr std::uint64_t kLongRun = 2000;  // scheduling points: longer ones are not exhausted
constexpr std::size_t kMostTries = 16;    // to fill a round
constexpr std::size_t kMostBeforeDefault = 8;
// As long as each run may tell the next what is not worth trying, rounds are small.
constexpr std::uint64_t kSmallRoundsEnd = 32;  // in schedules
constexpr std::size_t kSmallRound = 2;
// What a scheduling point costs, in points that are merely passed: bench/hunt/cost --against-run.
constexpr double kCostOfAsking = 30;
// A search may take so many times the time of the one that takes the least.
constexpr double kDear = 8;
// In a long program, where the time of a run is what counts, none may.
constexpr double kLongCost = 20'000 * kCostOfAsking;
constexpr double kMostDear = 100;  // its share is not divided by more
constexpr double kCostDecay = 0.9;
// A systematic search whose runs bring no new interleavings any more keeps this part of its share.
constexpr double kLeastNews = 0.1;
constexpr double kNewsDecay = 0.95;
constexpr std::uint64_t kEnoughRuns = 100;  // to say so
// Of the sampled runs of a program that ends while threads can run, one in so many still does.
constexpr std::uint64_t kEndsEarlyOneIn = 4;
constexpr std::uint64_t kMostLinger = 100'000;  // steps of others before the program ends

bool samples(abi::StrategyKind kind) {
  using enum abi::StrategyKind;
  return kind == kPos || kind == kSurw || kind == kPct || kind == kRff || kind == kRandom;
}

}  // namespace

PortfolioSearch::PortfolioSearch(std::uint64_t seed) : random_(job_seed(seed, 0x9097)) {
  using enum abi::StrategyKind;
  const auto sampling = [&](abi::StrategyKind kind, std::uint32_t parameter) {
    return std::make_unique<SamplingSearch>(kind, job_seed(seed, arms_.size()), parameter);
  };
  auto surw = std::make_unique<SurwSearch>(seed);
  auto target = std::make_unique<TargetSearch>(seed, TargetSearch::Opening::kLockstep);
  auto period = std::make_unique<PeriodSearch>(seed, PeriodSearch::Points::kAll);
  surw_ = surw.get();
  target_ = target.get();
  period_ = period.get();
  // In the order of ArmNumber; in percent: early, then, in the long run.
  add(std::move(surw), {46, 44, 17});
  add(std::move(target), {3, 2, 3});
  add(std::move(period), {12, 6, 3});
  add(sampling(kRandom, 0), {3, 4, 4});
  add(sampling(kPos, 0), {4, 8, 7});
  add(std::make_unique<RffSearch>(seed), {17, 22, 10});
  add(std::make_unique<ExhaustiveSearch>(
          kBound, ExhaustiveSearch::Options{.order = ExhaustiveSearch::Order::kDeviations,
                                            .seed = job_seed(seed, kExhaustiveArm),
                                            .short_sleeps = true}),
      {3, 2, 2});
  add(sampling(kPct, kDepth), {4, 5, 5});
  add(sampling(kPos, kShyWeight), {5, 10, 40});
  add(sampling(kRandom, kShyWeight), {1, 2, 8});
  add(sampling(kChaos, 0), {2, 1.5, 3});
  add(sampling(kTimer, 0), {1, 1, 2});
}

void PortfolioSearch::add(std::unique_ptr<Search> search, Shares shares) {
  arms_.push_back({std::move(search), shares});
}

PortfolioSearch::Phase PortfolioSearch::phase() const {
  return proposed_ < kEarlyEnd ? kEarly : proposed_ < kMainEnd ? kMain : kLong;
}

double PortfolioSearch::share(const Arm& arm) const {
  const bool shy = &arm == &arms_[kShyPosArm] || &arm == &arms_[kShyRandomArm];
  if (arm.over || (shy && !has_updates_)) return 0;
  const double tolerance = is_long() ? 1 : kDear;
  const double dear = least_cost_ > 0 ? expected_cost(arm) / (tolerance * least_cost_) : 0;
  const double news = arm.runs < kEnoughRuns ? 1 : std::max(arm.news, kLeastNews);
  return arm.shares[phase()] * news / std::clamp(dear, 1.0, kMostDear);
}

// Those who decide at every point of a run at whose points the others were not all asked need not be
// tried to know that they are dear.
double PortfolioSearch::expected_cost(const Arm& arm) const {
  const bool at_all_points = &arm == &arms_[kTargetArm] || &arm == &arms_[kPeriodArm];
  return at_all_points && arm.runs == 0 ? cost_of_all_points_ : arm.cost;
}

bool PortfolioSearch::is_long() const { return least_cost_ > kLongCost; }

// Everybody earns its share; the one with the most has the turn, and pays it.
std::optional<std::size_t> PortfolioSearch::whose_turn() {
  while (opening_ < kFirstTurns.size() && !is_long())
    if (const std::size_t arm = kFirstTurns[opening_++]; !arms_[arm].over) return arm;
  double total = 0;
  std::size_t richest = arms_.size();
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    const double earned = share(arms_[i]);
    if (earned == 0) continue;
    total += earned;
    arms_[i].credit += earned;
    if (richest == arms_.size() || arms_[i].credit > arms_[richest].credit) richest = i;
  }
  if (richest == arms_.size()) return std::nullopt;
  arms_[richest].credit -= total;
  return richest;
}

void PortfolioSearch::adapt(JobPlan& plan) {
  const bool lingers = random_.below(kEndsEarlyOneIn) != 0;
  if (ends_early_ && lingers && samples(plan.strategy))
    plan.parameters[abi::kPlanLinger] = kMostLinger;
  // It would cost more points that are decided on, and come out empty again.
  if (traces_overflow_ && samples(plan.strategy)) plan.flags &= ~std::uint32_t{abi::kJobTrace};
}

// Each is asked once for all of its turns: some work for long until they know what to propose.
std::vector<JobPlan> PortfolioSearch::take_turns(const std::vector<std::size_t>& turns) {
  std::vector<std::size_t> counts(arms_.size());
  for (const std::size_t arm : turns) ++counts[arm];
  std::vector<std::deque<JobPlan>> proposals(arms_.size());
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    if (counts[i] == 0) continue;
    std::ranges::move(arms_[i].search->next(counts[i]), std::back_inserter(proposals[i]));
    // It waits for what became of its last ones, or for something to aim at, or is through.
    if (proposals[i].empty() && i != kTargetArm)
      arms_[i].over = std::ranges::find(pending_, i) == pending_.end();
  }
  std::vector<JobPlan> plans;
  for (const std::size_t arm : turns) {
    if (proposals[arm].empty()) continue;
    plans.push_back(std::move(proposals[arm].front()));
    proposals[arm].pop_front();
    adapt(plans.back());
    pending_.push_back(latest_ = arm);
  }
  return plans;
}

std::vector<JobPlan> PortfolioSearch::next(std::size_t most) {
  std::vector<JobPlan> plans;
  if (proposed_ < kSmallRoundsEnd && !is_long()) most = std::min(most, kSmallRound);
  // Those who have nothing to propose have their turns taken by others, as long as there are any.
  for (std::size_t tries = 0; plans.size() < most && tries < kMostTries; ++tries) {
    std::vector<std::size_t> turns;
    while (plans.size() + turns.size() < most)
      if (const auto arm = whose_turn()) {
        turns.push_back(*arm);
        ++proposed_;
      } else {
        break;
      }
    std::ranges::move(take_turns(turns), std::back_inserter(plans));
  }
  return plans;
}

void PortfolioSearch::learn(const JobPlan& plan, const JobReport& report) {
  const std::size_t arm = pending_.front();
  pending_.pop_front();
  arms_[arm].search->learn(plan, report);
  share_news(arm, plan, report);
  keep_account(arm, plan, report);
  const abi::JobResult& result = report.result;
  if (result.scheduling_points > kLongRun) {
    arms_[kExhaustiveArm].over = true;
    period_->use_shared_points();
  }
  const std::uint32_t pick = 1u << static_cast<unsigned>(abi::ChoiceKind::kPick);
  ends_early_ |=
      report.verdict == Verdict::kPass && result.threads > 1 && result.company >= result.clock;
  has_questions_ |= (result.questions & ~pick) != 0;
  has_updates_ |= std::ranges::any_of(report.trace.steps, [](const TraceStep& step) {
    return step.kind == abi::StepKind::kUpdate;
  });
  target_->know(ends_early_, has_questions_);
  period_->know(has_questions_);
  tell_period(arm, plan, report);
}

// What one's run has shown saves others the run in which they would find that out.
void PortfolioSearch::share_news(std::size_t arm, const JobPlan& plan, const JobReport& report) {
  if (arm != kTargetArm) target_->learn(plan, report);
  if (arm != kSurwArm) surw_->preview(report);
  if (arm != kSurwArm && report.result.sharing_count > 0) surw_->recount();
  if (arm != kPctArm && (plan.flags & abi::kJobAllPoints) == 0)
    arms_[kPctArm].search->learn(plan, report);
  if (arm != kPeriodArm && report.result.sharing_count > 0) period_->recalibrate();
}

// The exhaustive search begins with the schedule without preemptions, with which period would. If the
// program then ends while threads can run, the longest run shows more: lockstep, in which it does not.
void PortfolioSearch::tell_period(std::size_t arm, const JobPlan& plan, const JobReport& report) {
  if (arm == kPeriodArm || (plan.flags & abi::kJobAllPoints) == 0 || report.trace.steps.empty())
    return;
  if (default_seen_) return period_->has_been_run(report.trace.steps);
  before_default_.push_back(report);
  default_seen_ = arm == kExhaustiveArm || before_default_.size() == kMostBeforeDefault;
  if (!default_seen_) return;
  const auto most = std::ranges::max_element(
      before_default_, {}, [](const JobReport& other) { return other.trace.steps.size(); });
  period_->calibrate(ends_early_ ? *most : report);
  for (const JobReport& other : before_default_) period_->has_been_run(other.trace.steps);
  before_default_.clear();
}

void PortfolioSearch::keep_account(std::size_t number, const JobPlan& plan,
                                   const JobReport& report) {
  Arm& arm = arms_[number];
  ++arm.runs;
  const double cost = static_cast<double>(report.result.clock + 1) +
                      kCostOfAsking * static_cast<double>(report.result.scheduling_points);
  if (samples(plan.strategy) && (report.result.uncovered & abi::kUncoveredRest) != 0) {
    cost_of_all_points_ = kCostOfAsking * static_cast<double>(report.result.clock);
    traces_overflow_ |= (plan.flags & abi::kJobTrace) != 0 && report.trace.steps.empty();
  }
  arm.cost = arm.cost == 0 ? cost : arm.cost * kCostDecay + cost * (1 - kCostDecay);
  least_cost_ = arm.cost;
  for (const Arm& other : arms_)
    if (other.cost > 0) least_cost_ = std::min(least_cost_, other.cost);
  if (number == kTargetArm || number == kPeriodArm || number == kExhaustiveArm)
    arm.news = arm.news * kNewsDecay + (report.new_interleaving ? 1 - kNewsDecay : 0);
}

std::string PortfolioSearch::using_now() const {
  return "portfolio: " + arms_[latest_].search->using_now();
}

}  // namespace clew
