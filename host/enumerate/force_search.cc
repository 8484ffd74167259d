#include "host/enumerate/force_search.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "host/trace/overlap.h"

namespace clew {
namespace {

// Of the pairs of events in a trace that a constraint may mean. Chosen, not measured, as are the
// numbers below.
constexpr std::size_t kMostAims = 6;
constexpr std::size_t kMostCombinations = 24;
// Traces from which schedules are made, and the longest of them.
constexpr std::uint64_t kMostStudied = 200;
constexpr std::size_t kLongestStudied = 100'000;
// Before an order that holds in all runs is believed.
constexpr std::uint64_t kRunsForOrder = 48;

// First and last of a long list, and some in between.
std::vector<StepNumber> some_of(const std::vector<StepNumber>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<StepNumber> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

std::vector<StepNumber> steps_of(std::span<const TraceStep> trace, const EventSpec& event) {
  const std::vector<bool> is_it = matches(trace, event);
  std::vector<StepNumber> steps;
  for (StepNumber i = 0; i < trace.size(); ++i)
    if (is_it[i]) steps.push_back(i);
  return steps;
}

class Adapter final : public Search {
 public:
  explicit Adapter(ForceSearch& force) : force_(force) {}
  std::vector<JobPlan> next(std::size_t most) override { return force_.next(most); }
  void learn(const JobPlan& plan, const JobReport& report) override { force_.learn(plan, report); }
  std::string using_now() const override { return "force"; }
  std::vector<Keep> to_keep() override { return force_.to_keep(); }
  void kept(std::size_t which, std::optional<std::uint64_t> recording) override {
    force_.kept(which, recording);
  }

 private:
  ForceSearch& force_;
};

}  // namespace

ForceSearch::ForceSearch(std::vector<Constraint> constraints, std::uint64_t seed,
                         std::uint64_t for_both)
    : constraints_(std::move(constraints)),
      known_(constraints_.size()),
      for_both_(for_both),
      wander_(seed) {}

std::unique_ptr<Search> ForceSearch::search() { return std::make_unique<Adapter>(*this); }

// In no run a constraint could be met, and enough of them were made.
bool ForceSearch::hopeless() const {
  if (met_at_ != 0 || runs_ < kRunsForOrder) return false;
  return std::ranges::any_of(known_, [](const Known& known) {
    return known.first_executed && known.second_executed && !known.may_be &&
           known.reason.kind != OrderReason::Kind::kNone;
  });
}

std::vector<JobPlan> ForceSearch::next(std::size_t most) {
  std::vector<JobPlan> plans;
  if (failing_ && passing_) return plans;
  if (met_at_ != 0 && runs_ - met_at_ >= for_both_) return plans;
  while (plans.size() < most && !directed_.empty()) {
    plans.push_back(std::move(directed_.front()));
    directed_.pop_front();
  }
  if (!plans.empty() || hopeless()) return plans;
  return wander_.next(most);
}

void ForceSearch::learn_order(const Constraint& constraint, Known& known, const Trace& trace,
                              const MustOrder& order, std::vector<Aim>& aims) {
  const std::vector<StepNumber> second = steps_of(trace.steps, constraint.second);
  known.second_executed |= !second.empty();
  std::vector<StepNumber> first;
  const bool initial = constraint.kind == Constraint::Kind::kSeesInitial;
  if (!initial) first = steps_of(trace.steps, constraint.first);
  known.first_executed |= initial || !first.empty();
  if (second.empty() || (first.empty() && !initial)) return;
  const bool sees = constraint.kind != Constraint::Kind::kBefore;
  if (initial) first = {kInitialValue};

  const ReadsFrom reads = sees ? reads_from(trace.steps, Memory::kAll) : ReadsFrom{};
  std::optional<OrderReason> reason;
  for (const StepNumber b : some_of(second, kMostAims)) {
    for (const StepNumber a : some_of(first, kMostAims)) {
      const TraceStep& later = trace.steps[b];
      if (a == b || (sees && !is_read(later.kind))) continue;
      std::optional<OrderReason> hidden;
      if (!sees) {
        hidden = order.before(b, a);
      } else if (!initial && (!is_write(trace.steps[a].kind) || !overlap(trace.steps[a], later))) {
        continue;
      } else if (const auto bytes = reads.shared.find(later.object >> 3);
                 bytes != reads.shared.end()) {
        hidden = order.hidden(a, b, bytes->second.accesses);
      }
      if (hidden) {
        if (!reason) reason = hidden;
        continue;
      }
      known.may_be = true;
      if (aims.size() < kMostAims)
        aims.push_back({sees ? Aim::Kind::kSees : Aim::Kind::kBefore, a, b});
    }
  }
  if (reason && known.reason.kind == OrderReason::Kind::kNone) known.reason = *reason;
}

void ForceSearch::propose_from(const Trace& trace) {
  const MustOrder order(trace.steps);
  std::vector<std::vector<Aim>> aims(constraints_.size());
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    learn_order(constraints_[i], known_[i], trace, order, aims[i]);
  if (std::ranges::any_of(aims, [](const auto& of_one) { return of_one.empty(); })) return;
  const TraceModel model(trace.steps);
  std::vector<std::size_t> at(aims.size());
  for (std::size_t n = 0; n < kMostCombinations; ++n) {
    std::vector<Aim> together;
    for (std::size_t i = 0; i < aims.size(); ++i) together.push_back(aims[i][at[i]]);
    for (const std::vector<std::uint32_t>& prefix : propose(model, together)) {
      JobPlan plan = following(prefix);
      if (proposed_.insert(plan.guide).second) directed_.push_back(std::move(plan));
    }
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == aims[i].size()) at[i++] = 0;
    if (i == at.size()) return;
  }
}

void ForceSearch::learn(const JobPlan& plan, const JobReport& report) {
  ++runs_;
  wander_.learn(plan, report);
  if (report.trace.steps.empty() || !report.trace.complete) return;
  if (report.verdict != Verdict::kUnresolved && meets(report.trace, constraints_)) {
    std::optional<Met>& met = report.verdict == Verdict::kFail ? failing_ : passing_;
    if (!met) met = Met{plan, {runs_, std::nullopt}};
    if (met_at_ == 0) met_at_ = runs_;
  }
  if (studied_ < kMostStudied && report.trace.steps.size() <= kLongestStudied) {
    ++studied_;
    propose_from(report.trace);
  }
}

std::vector<Search::Keep> ForceSearch::to_keep() const {
  std::vector<Search::Keep> keep;
  if (passing_) keep.push_back({passing_->plan, Verdict::kPass});
  if (failing_) keep.push_back({failing_->plan, Verdict::kFail});
  return keep;
}

void ForceSearch::kept(std::size_t which, std::optional<std::uint64_t> recording) {
  std::optional<Met>& met = which == 0 && passing_ ? passing_ : failing_;
  if (met) met->run.recording = recording;
}

ForceResult ForceSearch::result() const {
  using Kind = OrderReason::Kind;
  ForceResult result;
  result.schedules = runs_;
  if (failing_) result.failing = failing_->run;
  if (passing_) result.passing = passing_->run;
  if (met_at_ != 0) {
    result.answer = Possibility::kPossible;
    return result;
  }
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const Known& known = known_[i];
    result.constraint = i;
    if (!known.first_executed || !known.second_executed) {
      const EventSpec& event =
          known.second_executed ? constraints_[i].first : constraints_[i].second;
      result.reason = {Kind::kNotExecuted, event.places.empty() ? 0 : event.places.front()};
    } else if (!known.may_be && known.reason.kind != Kind::kNone) {
      result.reason = known.reason;
      result.answer =
          hopeless() || wander_.exhausted() ? Possibility::kImpossible : Possibility::kOpen;
    }
    if (result.reason.kind != Kind::kNone) break;
  }
  if (wander_.exhausted()) {
    result.answer = Possibility::kImpossible;
    if (result.reason.kind == Kind::kNone) {
      result.reason.kind = Kind::kExhausted;
      result.constraint = 0;
    }
    if (const std::string untried = wander_.untried(); !untried.empty())
      result.notes.push_back("not tried: " + untried);
  }
  return result;
}

}  // namespace clew
