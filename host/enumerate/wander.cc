#include "host/enumerate/wander.h"

#include <utility>

#include "host/search/guides.h"
#include "host/search/sampling.h"

namespace clew {
namespace {

// 128 MB of nodes. Chosen, not measured.
constexpr std::size_t kMostNodes = std::size_t{1} << 22;
// Of so many runs one is a sample. Chosen, not measured.
constexpr std::uint64_t kSampleEach = 4;
// When everything was executed but for what the systematic search does not try (a weak compare-exchange
// that fails, a wait that times out), which samples do. Chosen, not measured.
constexpr std::uint64_t kSamplesOfTheRest = 128;
// Otherwise nothing is seen of threads that nobody joins.
constexpr std::uint64_t kLinger = 20'000;

constexpr std::uint32_t kTraced = abi::kJobTrace | abi::kJobAllPoints;
// With a window, what a thread does while it is alone is traced as well.
constexpr abi::TraceWindow kAlone{1, UINT64_MAX};

}  // namespace

JobPlan following(const std::vector<std::uint32_t>& prefix) {
  JobPlan plan;
  plan.strategy = abi::StrategyKind::kPrefix;
  plan.flags = kTraced;
  plan.guide = prefix_guide(prefix);
  plan.parameters[abi::kPrefixShortSleeps] = 1;
  plan.window = kAlone;
  return plan;
}

Wander::Wander(std::uint64_t seed)
    : every_(ExhaustiveSearch::kNoBound, {.short_sleeps = true, .most_nodes = kMostNodes}),
      seed_(seed) {}

JobPlan Wander::sample() {
  JobPlan plan;
  plan.flags = kTraced;
  plan.seed = job_seed(seed_, ++sampled_);
  constexpr abi::StrategyKind kKinds[] = {abi::StrategyKind::kRoundRobin, abi::StrategyKind::kPos,
                                          abi::StrategyKind::kRandom, abi::StrategyKind::kPos};
  plan.strategy = kKinds[sampled_ == 1 ? 0 : 1 + sampled_ % 3];
  plan.parameters[abi::kPlanLinger] = sampled_ % 2 != 0 ? kLinger : 0;
  plan.window = kAlone;
  return plan;
}

std::vector<JobPlan> Wander::next(std::size_t most) {
  std::vector<JobPlan> plans;
  if (exhausted()) {
    while (plans.size() < most && !untried().empty() && sampled_ < kSamplesOfTheRest)
      plans.push_back(sample());
    return plans;
  }
  while (plans.size() < most) {
    if (++proposed_ % kSampleEach == 2) {
      plans.push_back(sample());
      continue;
    }
    std::vector<JobPlan> one = every_.next(1);
    if (one.empty() && !plans.empty()) break;  // it learns from those first
    plans.push_back(one.empty() ? sample() : std::move(one.front()));
    plans.back().window = kAlone;
  }
  return plans;
}

void Wander::learn(const JobPlan& plan, const JobReport& report) {
  if (plan.strategy == abi::StrategyKind::kPrefix) every_.learn(plan, report);
}

}  // namespace clew
