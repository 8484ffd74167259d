#include "host/cases/steering.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "host/search/guides.h"
#include "host/search/sampling.h"

namespace clew {
namespace {

// A thread that others wait for in a loop must not be held for ever. Chosen: enough for what small
// programs do, and soon over.
constexpr std::uint64_t kShortHold = 3000;

using Edges = std::set<std::pair<std::size_t, std::size_t>>;

Edges edges_of(const Case& one, const Match& match) {
  Edges edges;
  for (const CaseOrder& order : one.orders) {
    const auto& e = order.events;
    if (order.kind == CaseOrder::Kind::kSees || order.kind == CaseOrder::Kind::kHolds) {
      edges.emplace(e[1], e[0]);
      continue;
    }
    for (std::size_t i = 1; i < e.size(); ++i) edges.emplace(e[i - 1], e[i]);
  }
  for (std::size_t a = 0; a < one.events.size(); ++a)
    for (std::size_t b = 0; b < one.events.size(); ++b)
      if (a != b && match[a] && match[b] && one.events[a].thread == one.events[b].thread &&
          *match[a] < *match[b])
        edges.emplace(a, b);
  return edges;
}

// The n-th time that the thread of a step is at its place.
std::uint64_t count_of(const TracedRun& run, std::size_t at) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= at; ++i)
    count +=
        run.steps[i].thread == run.steps[at].thread && run.steps[i].place == run.steps[at].place;
  return count;
}

enum class First : std::uint8_t { kBring, kLeave };  // the other threads to their first events

JobPlan plan_of(const Case& one, const Match& match, const TracedRun& run,
                const std::vector<std::size_t>& sequence, First first, std::uint64_t hold) {
  std::vector<PlanDirective> directives;
  const auto step = [&](std::size_t e) -> const TraceStep& { return run.steps[*match[e]]; };
  std::map<std::pair<abi::ThreadKey, abi::Place>, std::uint64_t> passed;
  const auto times = [&](std::size_t e) {
    std::uint64_t& before = passed[{step(e).thread, step(e).place}];
    const std::uint64_t count = count_of(run, *match[e]);
    return count > before ? count - before : 1;
  };
  std::set<abi::ThreadKey> brought{step(sequence.front()).thread};
  if (first == First::kBring)
    for (const std::size_t e : sequence) {
      if (!brought.insert(step(e).thread).second) continue;
      directives.push_back({step(e).thread, PlanStop::kBefore, step(e).place, times(e),
                            static_cast<std::uint8_t>(kPlanInsist | kPlanHold)});
      passed[{step(e).thread, step(e).place}] = count_of(run, *match[e]) - 1;
    }
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const std::size_t e = sequence[i];
    const bool later = std::any_of(
        sequence.begin() + static_cast<std::ptrdiff_t>(i) + 1, sequence.end(),
        [&](std::size_t other) { return one.events[other].thread == one.events[e].thread; });
    const auto flags = static_cast<std::uint8_t>(later ? kPlanInsist | kPlanHold : kPlanInsist);
    directives.push_back({step(e).thread, PlanStop::kAfter, step(e).place, times(e), flags});
    passed[{step(e).thread, step(e).place}] = count_of(run, *match[e]);
  }
  JobPlan plan;
  plan.strategy = abi::StrategyKind::kPlan;
  plan.parameters[abi::kPlanLongestHold] = hold;
  plan.guide = plan_guide(directives);
  return plan;
}

}  // namespace

std::vector<std::size_t> sequence_of(const Case& one, const Match& match) {
  Edges edges = edges_of(one, match);
  std::vector<std::size_t> left;
  for (std::size_t e = 0; e < one.events.size(); ++e)
    if (match[e]) left.push_back(e);
  std::vector<std::size_t> sequence;
  while (!left.empty()) {
    const auto next = std::ranges::find_if(left, [&](std::size_t e) {
      return std::ranges::none_of(left, [&](std::size_t o) { return edges.contains({o, e}); });
    });
    if (next == left.end()) return {};
    sequence.push_back(*next);
    left.erase(next);
  }
  return sequence;
}

std::vector<JobPlan> steering_plans(const Case& one, const EventSites& sites, const TracedRun& run,
                                    std::size_t most) {
  std::vector<JobPlan> plans;
  std::set<std::vector<std::uint8_t>> guides;
  std::size_t choices = 0;
  // Choices that differ in the count of a loop alone are alike: first those with the least counts.
  each_choice(one, sites, run, [&](const Match& match) {
    if (++choices > 20 * most) return false;
    const std::vector<std::size_t> sequence = sequence_of(one, match);
    if (sequence.empty()) return true;
    for (const First first : {First::kLeave, First::kBring})
      for (const std::uint64_t hold : {std::uint64_t{0}, kShortHold}) {
        JobPlan plan = plan_of(one, match, run, sequence, first, hold);
        if (hold == 0 && !guides.insert(plan.guide).second) break;
        plans.push_back(std::move(plan));
      }
    return plans.size() < most;
  });
  return plans;
}

std::vector<JobPlan> preferring_plans(const Case& one, const EventSites& sites, const Sites& all,
                                      std::uint64_t seed, std::size_t seeds) {
  std::vector<RffConstraint> constraints;
  constexpr std::size_t kMost = 24;
  for (const CaseOrder& order : one.orders) {
    const bool sees = order.kind == CaseOrder::Kind::kSees;
    const std::size_t write = sees ? order.events[1] : order.events[0];
    const std::size_t read = sees ? order.events[0] : order.events[1];
    for (const SiteId w : sites[write])
      for (const SiteId r : sites[read])
        if (constraints.size() < kMost)
          constraints.push_back({all[w].place, all[r].place, RffSign::kPositive});
  }
  std::vector<JobPlan> plans;
  if (constraints.empty()) return plans;
  for (std::size_t i = 0; i < seeds; ++i) {
    JobPlan plan;
    plan.strategy = abi::StrategyKind::kRff;
    plan.seed = job_seed(seed, i);
    plan.guide = rff_guide(constraints, {});
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace clew
