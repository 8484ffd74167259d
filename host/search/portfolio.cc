#include "host/search/portfolio.h"

#include <utility>

#include "host/search/rff_search.h"
#include "host/search/surw_search.h"

namespace clew {
namespace {

// Weight of updates in the random walk, in percent. The numbers here are chosen; what comes
// of them is measured by bench/hunt/run.
constexpr std::uint32_t kHesitant = 25;
constexpr double kDecay = 0.99;
constexpr double kLeastShare = 0.05;
// While there are untried targets every so many jobs is one of sampling.
constexpr std::uint64_t kSampleEvery = 5;
// The schedules that are the same for every program.
constexpr std::uint64_t kLockstepAt = 0;
constexpr std::uint64_t kNoPreemptionsAt = 5;

}  // namespace

PortfolioSearch::PortfolioSearch(std::uint64_t seed)
    : random_(job_seed(seed, 0x9097)), target_(seed) {
  const auto add = [&](std::unique_ptr<Search> search) { arms_.push_back({std::move(search)}); };
  add(std::make_unique<SamplingSearch>(abi::StrategyKind::kPos, seed, 0));
  add(std::make_unique<SurwSearch>(seed));
  add(std::make_unique<SamplingSearch>(abi::StrategyKind::kPct, seed, 3));
  add(std::make_unique<RffSearch>(seed));
  add(std::make_unique<SamplingSearch>(abi::StrategyKind::kRandom, seed, kHesitant));
}

std::optional<JobPlan> PortfolioSearch::opening() {
  if (proposed_ != kLockstepAt && proposed_ != kNoPreemptionsAt) return std::nullopt;
  JobPlan plan;
  plan.strategy =
      proposed_ == kLockstepAt ? abi::StrategyKind::kRoundRobin : abi::StrategyKind::kPlan;
  plan.flags = abi::kJobTrace | abi::kJobAllPoints;
  return plan;
}

// By mean reward, with a floor for each.
std::size_t PortfolioSearch::draw_arm() {
  double total = 0;
  for (const Arm& arm : arms_) total += arm.reward / arm.jobs;
  const double floor = kLeastShare * total;
  double at = random_.unit() * (total + floor * static_cast<double>(arms_.size()));
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    at -= arms_[i].reward / arms_[i].jobs + floor;
    if (at < 0) return i;
  }
  return arms_.size() - 1;
}

std::optional<JobPlan> PortfolioSearch::from_arm(std::size_t arm) {
  Search& search = arm == arms_.size() ? static_cast<Search&>(target_) : *arms_[arm].search;
  std::vector<JobPlan> plans = search.next(1);
  if (plans.empty()) return std::nullopt;
  return std::move(plans.front());
}

std::vector<JobPlan> PortfolioSearch::next(std::size_t most) {
  std::vector<JobPlan> plans;
  for (; plans.size() < most; ++proposed_) {
    if (auto first = opening()) {
      pending_.push_back(latest_ = kOpening);
      plans.push_back(std::move(*first));
      continue;
    }
    const bool directed = target_.untried() > 0 ? proposed_ % kSampleEvery != kSampleEvery - 1
                                                : target_.has_targets() && random_.below(8) == 0;
    std::size_t arm = directed ? arms_.size() : draw_arm();
    auto plan = from_arm(arm);
    // Some propose nothing until they have seen a run: then sampling does.
    if (!plan) plan = from_arm(arm = 0);
    if (!plan) break;
    pending_.push_back(latest_ = arm);
    plans.push_back(std::move(*plan));
  }
  return plans;
}

void PortfolioSearch::learn(const JobPlan& plan, const JobReport& report) {
  const std::size_t arm = pending_.front();
  pending_.pop_front();
  target_.learn(plan, report);
  if (arm >= arms_.size()) return;
  arms_[arm].search->learn(plan, report);
  arms_[arm].reward = arms_[arm].reward * kDecay + (report.new_interleaving ? 1 : 0);
  arms_[arm].jobs = arms_[arm].jobs * kDecay + 1;
}

std::string PortfolioSearch::using_now() const {
  if (latest_ == kOpening) return "portfolio";
  return "portfolio: " +
         (latest_ == arms_.size() ? target_.using_now() : arms_[latest_].search->using_now());
}

}  // namespace clew
