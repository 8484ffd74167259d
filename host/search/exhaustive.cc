#include "host/search/exhaustive.h"

#include <algorithm>
#include <bit>

#include "host/search/guides.h"
#include "host/trace/scheduling_point.h"
#include "host/trace/trace_order.h"

namespace clew {
namespace {

constexpr std::uint64_t bit(std::uint32_t thread) { return std::uint64_t{1} << thread; }

// For each step the first of those that its thread made in a row. A run may race with each of a hundred
// thousand of them, so they are not looked for one by one.
std::vector<std::size_t> blocks_of(std::span<const TraceStep> trace) {
  std::vector<std::size_t> first(trace.size());
  for (std::size_t k = 1; k < trace.size(); ++k)
    first[k] = trace[k].index == trace[k - 1].index ? first[k - 1] : k;
  return first;
}

}  // namespace

ExhaustiveSearch::ExhaustiveSearch(std::uint32_t bound, Options options)
    : bound_(bound), options_(options), random_(options.seed) {
  waiting_.resize(1);
  waiting_[0].push_back({});
}

std::vector<JobPlan> ExhaustiveSearch::next(std::size_t most) {
  std::vector<JobPlan> plans;
  if (!no_answer_.empty()) return plans;
  const auto level =
      std::ranges::find_if(waiting_, [](const auto& points) { return !points.empty(); });
  if (level == waiting_.end()) return plans;
  while (plans.size() < most && !level->empty()) {
    if (options_.order == Order::kDeviations)
      std::swap(level->back(), (*level)[random_.below(level->size())]);
    proposed_.push_back(propose(level->back()));
    level->pop_back();
    plans.push_back(proposed_.back().plan);
  }
  return plans;
}

ExhaustiveSearch::Proposal ExhaustiveSearch::propose(Point point) const {
  Proposal proposal;
  proposal.point = point;
  if (point.node != kNoNode) {
    proposal.prefix.push_back(point.thread);
    for (NodeId at = point.node; nodes_[at].parent != kNoNode; at = nodes_[at].parent) {
      proposal.prefix.push_back(nodes_[at].running);
    }
    std::ranges::reverse(proposal.prefix);
  }
  proposal.plan.strategy = abi::StrategyKind::kPrefix;
  proposal.plan.flags = abi::kJobTrace | abi::kJobAllPoints;
  proposal.plan.guide = prefix_guide(proposal.prefix);
  proposal.plan.parameters[abi::kPrefixShortSleeps] = options_.short_sleeps ? 1 : 0;
  return proposal;
}

bool ExhaustiveSearch::waits_for(const JobPlan& plan) const {
  return std::ranges::any_of(
      proposed_, [&](const Proposal& proposal) { return proposal.plan.guide == plan.guide; });
}

void ExhaustiveSearch::learn(const JobPlan& plan, const JobReport& report) {
  const auto found = std::ranges::find(
      proposed_, plan.guide, [](const Proposal& p) -> const auto& { return p.plan.guide; });
  if (found == proposed_.end()) return;
  const Proposal proposal = std::move(*found);
  proposed_.erase(found);
  if (!no_answer_.empty()) return;

  std::vector<TraceStep> trace = report.trace.steps;
  std::erase_if(trace, [](const TraceStep& step) { return !is_point(step); });
  ++runs_;
  questions_ |= report.result.questions;
  uncovered_ |= report.result.uncovered;
  if (report.verdict == Verdict::kFail) ++failed_;
  if (report.result.threads > kMostThreads || std::ranges::any_of(trace, [](const TraceStep& step) {
        return step.index >= kMostThreads;
      })) {
    no_answer_ = "no answer: the program has more than 64 threads";
  } else if (!report.trace.complete || (trace.empty() && report.result.scheduling_points > 0)) {
    no_answer_ = "no answer: a run had too many steps for its trace to be kept";
  } else if (nodes_.size() + trace.size() > options_.most_nodes) {
    no_answer_ = "no answer: there are too many schedules to keep track of";
  } else if (!followed(proposal, trace) ||
             (trace.empty() && report.verdict == Verdict::kUnresolved)) {
    ++departed_;
    ++unresolved_;
  } else {
    if (report.verdict == Verdict::kUnresolved) ++unresolved_;
    const Path path{extend(proposal, trace), blocks_of(trace)};
    const std::size_t length = proposal.prefix.size();
    TraceOrder(trace).each_race(length == 0 ? 0 : length - 1,
                                [&](std::size_t step, std::uint32_t u) { race(path, step, u); });
  }
}

bool ExhaustiveSearch::followed(const Proposal& proposal, std::span<const TraceStep> trace) const {
  if (trace.size() < proposal.prefix.size()) return false;
  NodeId at = proposal.point.node;
  for (std::size_t k = proposal.prefix.size(); k-- > 0; at = nodes_[at].parent) {
    if (trace[k].index != proposal.prefix[k] || trace[k].enabled != nodes_[at].enabled)
      return false;
  }
  return true;
}

std::vector<ExhaustiveSearch::NodeId> ExhaustiveSearch::extend(const Proposal& proposal,
                                                               std::span<const TraceStep> trace) {
  std::vector<NodeId> path(trace.size(), kNoNode);
  const std::size_t length = proposal.prefix.size();
  NodeId at = proposal.point.node;
  for (std::size_t k = length; k-- > 0; at = nodes_[at].parent) path[k] = at;
  for (std::size_t k = length; k < trace.size(); ++k) {
    Node node;
    node.enabled = trace[k].enabled;
    node.first = trace[k].index;
    node.wanted = bit(node.first);
    if (k > 0) {
      const Node& parent = nodes_[path[k - 1]];
      node.parent = path[k - 1];
      node.running = trace[k - 1].index;
      node.preemptions = parent.preemptions + preempts(parent, node.running);
      node.deviations = parent.deviations + (node.running != parent.first ? 1 : 0);
    }
    path[k] = static_cast<NodeId>(nodes_.size());
    nodes_.push_back(node);
  }
  return path;
}

// The default lets the running thread go on if it can: where it did not, no switch is a preemption.
std::uint32_t ExhaustiveSearch::preempts(const Node& node, std::uint32_t thread) {
  return node.first == node.running && thread != node.running ? 1 : 0;
}

void ExhaustiveSearch::race(const Path& path, std::size_t step, std::uint32_t u) {
  want(path.nodes[step], u);
  const std::size_t block = path.blocks[step];
  if (block != step) want(path.nodes[block], u);
}

void ExhaustiveSearch::want(NodeId id, std::uint32_t thread) {
  Node& node = nodes_[id];
  std::uint64_t threads = (node.enabled & bit(thread)) != 0 ? bit(thread) : node.enabled;
  threads &= ~node.wanted;
  node.wanted |= threads;
  for (; threads != 0; threads &= threads - 1) {
    const auto t = static_cast<std::uint16_t>(std::countr_zero(threads));
    const std::uint32_t preemptions = node.preemptions + preempts(node, t);
    if (preemptions > bound_) {
      beyond_ = true;
      continue;
    }
    const bool by_preemptions = options_.order == Order::kPreemptions;
    const std::uint32_t level = by_preemptions ? preemptions : node.deviations + 1;
    if (waiting_.size() <= level) waiting_.resize(level + 1);
    waiting_[level].push_back({id, t});
  }
}

std::string ExhaustiveSearch::using_now() const { return "exhaustive"; }

bool ExhaustiveSearch::over() const {
  return proposed_.empty() &&
         std::ranges::all_of(waiting_, [](const auto& p) { return p.empty(); });
}

namespace {

// What else could have happened at the choices beyond switches that came up.
std::string untried_answers(std::uint32_t questions) {
  std::string text;
  for (const auto& [kind, words] :
       {std::pair{abi::ChoiceKind::kWake, "waking another than the longest waiting thread"},
        {abi::ChoiceKind::kSpurious, "spurious wake-ups"},
        {abi::ChoiceKind::kTimeout, "early timeouts"},
        {abi::ChoiceKind::kTrylock, "failing trylocks"},
        {abi::ChoiceKind::kCas, "failing weak compare-exchanges"}}) {
    if ((questions & 1u << static_cast<unsigned>(kind)) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(words);
  }
  return text;
}

}  // namespace

std::string ExhaustiveSearch::untried() const {
  std::string text = untried_answers(questions_);
  for (const auto& [what, words] :
       {std::pair{abi::kUncoveredHandlers, "signals that come at other points"},
        {abi::kUncoveredTime, "other times of clocks and deadlines"},
        {abi::kUncoveredOutside, "input that comes at other points"},
        {abi::kUncoveredRegions, "switches in code without yield points"},
        {abi::kUncoveredLibraries, "switches in code not built with clew"},
        {abi::kUncoveredRest, "the rest of runs that are too long"},
        {abi::kUncoveredRounds, "further rounds of loops in which threads wait"}})
    if ((uncovered_ & what) != 0) text += (text.empty() ? "" : ", ") + std::string(words);
  return text;
}

bool ExhaustiveSearch::all_executed() const {
  return no_answer_.empty() && over() && unresolved_ == 0 && departed_ == 0;
}

bool ExhaustiveSearch::all_pass() const {
  return all_executed() && failed_ == 0 && untried().empty();
}

std::optional<std::string> ExhaustiveSearch::conclusion() const {
  if (!no_answer_.empty()) return no_answer_;
  if (!over()) return std::nullopt;
  const auto count = [](std::uint64_t n, std::string_view what) {
    return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
  };
  const std::string within = " with at most " + count(bound_, "preemption");
  std::string text;
  if (failed_ > 0) {
    text = std::to_string(failed_) + " of " + count(runs_, "schedule") + within +
           (failed_ == 1 ? " fails" : " fail");
  } else if (unresolved_ > 0) {
    text = "no failure in " + count(runs_, "schedule") + within;
  } else if (runs_ == 1) {
    text = "the 1 schedule" + within + " passes";
  } else {
    text = "all " + count(runs_, "schedule") + within + " pass";
  }
  if (unresolved_ > 0) text += "; " + std::to_string(unresolved_) + " unresolved";
  if (departed_ > 0) {
    text += (unresolved_ > 0 ? ", " : "; ") + std::to_string(departed_) +
            " of them because the run departed from its schedule: there may be others that were "
            "not tried";
  }
  const std::string others = untried();
  if (!others.empty()) text += ", apart from " + others + ", which are not tried";
  if (failed_ + unresolved_ == 0 && others.empty()) {
    text += beyond_ ? " (any other of them is equivalent to "
                    : " (any other, also with more preemptions, is equivalent to ";
    text += runs_ == 1 ? "it" : "one of these";
    text += " in what code built with clew does)";
  }
  return text;
}

}  // namespace clew
