#include "host/enumerate/enumerate_search.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/trace/scheduling_point.h"

namespace clew {
namespace {

// Chosen, not measured: limits of memory and of the time for one trace.
constexpr std::size_t kMostBaseSteps = 2'000'000;
constexpr std::size_t kLongestBase = 100'000;
constexpr std::size_t kLongestTrace = 1'000'000;
constexpr std::size_t kMostTargets = 100'000;
constexpr std::size_t kMostStepsAtOnce = 1'000'000;  // of the runs of a round: 64 MB
constexpr std::size_t kFewestAtOnce = 4;
// What is new in run n may have company up to run 8 n: then it is quiet. Hunts for failures wait for
// more than that. Chosen, not measured.
constexpr std::uint64_t kQuietTimes = 8;
constexpr std::uint64_t kQuietHunt = 5000;
constexpr std::uint64_t kLongestQuiet = 20'000;
// Of the runs that make it quiet so many have both events of a term, if their order is a reason.
// Chosen, not measured.
constexpr std::uint64_t kOrderedShare = 8;
// Looking at what is open takes as long as some runs if there are many terms.
constexpr std::uint64_t kRunsBetweenLooks = 64;
// Recordings that a search leaves, besides those of different failures.
constexpr std::size_t kMostKept = 16;

class Adapter : public Search {
 public:
  explicit Adapter(EnumerateSearch& enumerate) : enumerate_(enumerate) {}
  std::optional<PairCoverage> coverage() const override { return enumerate_.coverage(); }
  std::vector<JobPlan> next(std::size_t most) override { return enumerate_.next(most); }
  void learn(const JobPlan& plan, const JobReport& report) override {
    enumerate_.learn(plan, report);
  }
  std::string using_now() const override { return "enumerate"; }
  std::vector<Keep> to_keep() override { return enumerate_.to_keep(); }
  void kept(std::size_t which, std::optional<std::uint64_t> recording) override {
    enumerate_.kept(which, recording);
  }

 private:
  EnumerateSearch& enumerate_;
};

struct Owned {
  EnumerateSearch enumerate;
};
// What it finds is the hunt's to record.
class OwningAdapter final : Owned, public Adapter {
 public:
  explicit OwningAdapter(std::uint64_t seed)
      : Owned{EnumerateSearch({.seed = seed, .places = {}, .quiet = kQuietHunt})},
        Adapter(enumerate) {}
  std::vector<Keep> to_keep() override { return {}; }
};

}  // namespace

EnumerateSearch::EnumerateSearch(EnumerateSearchOptions options)
    : options_(std::move(options)),
      terms_(options_.places, options_.later_instances),
      combinations_(options_.together),
      wander_(options_.seed) {
  if (options_.together > 1) terms_.remember_runs();
}

std::unique_ptr<Search> make_enumerate_search(std::uint64_t seed) {
  return std::make_unique<OwningAdapter>(seed);
}

std::unique_ptr<Search> EnumerateSearch::search() { return std::make_unique<Adapter>(*this); }

EnumerateSearch::Urgency EnumerateSearch::urgency(const Term& term) const {
  if (!term.may_be) return kRest;  // to see that a lock does what it seems to
  if (!terms_.places_seen(term)) return kNewPlaces;
  const std::uint32_t later = terms_.later_instances();
  return term.read.instance < later && term.write.instance < later ? kFirstInstances : kRest;
}

void EnumerateSearch::take_candidates(const Trace& trace,
                                      const std::vector<Terms::Candidate>& candidates) {
  if (candidates.empty() || trace.steps.size() > kLongestBase ||
      base_steps_ + trace.steps.size() > kMostBaseSteps)
    return;
  const std::size_t steps = trace.steps.size();
  base_steps_ += steps;
  const std::shared_ptr<const BaseRun> base(new BaseRun(trace), [this, steps](BaseRun* run) {
    base_steps_ -= steps;
    delete run;
  });
  std::size_t pending = 0;
  for (const auto& targets : targets_) pending += targets.size();
  for (const Terms::Candidate& candidate : candidates) {
    Term& term = terms_.at(candidate.term);
    if (term.seen() || term.bases >= kMostBases || pending++ >= kMostTargets) continue;
    ++term.bases;
    targets_[urgency(term)].push_back({candidate.term, base, candidate.aim, {}, false});
  }
}

void EnumerateSearch::add_directed(std::size_t most, std::vector<JobPlan>& plans) {
  for (std::uint8_t level = 0; level < kUrgencies && plans.size() < most; ++level) {
    // Each target that there is now, once: what it is tried with again comes in a later round.
    for (std::size_t left = targets_[level].size(); left > 0 && plans.size() < most; --left) {
      if (time_is_up()) return;
      Target target = std::move(targets_[level].front());
      targets_[level].pop_front();
      Term& term = terms_.at(target.term);
      if (term.seen()) continue;
      if (const Urgency now = urgency(term); now > level) {
        targets_[now].push_back(std::move(target));
        continue;
      }
      if (!std::exchange(target.expanded, true)) {
        target.prefixes = propose(target.base->model, std::span(&target.aim, 1));
        std::ranges::reverse(target.prefixes);
        // For one that a lock rules out the last recipe, which ignores it, is enough.
        if (!term.may_be && target.prefixes.size() > 1)
          target.prefixes.erase(target.prefixes.begin() + 1, target.prefixes.end());
      }
      while (!target.prefixes.empty()) {
        JobPlan plan = following(target.prefixes.back());
        target.prefixes.pop_back();
        if (!proposed_.insert(plan.guide).second) continue;
        ++term.attempts;
        plans.push_back(std::move(plan));
        break;
      }
      if (!target.prefixes.empty()) targets_[level].push_back(std::move(target));
    }
  }
}

void EnumerateSearch::add_combined(std::size_t most, std::vector<JobPlan>& plans) {
  while (plans.size() < most && !time_is_up()) {
    const auto prefixes = combinations_.propose_next(terms_);
    if (prefixes.empty()) return;
    for (const std::vector<std::uint32_t>& prefix : prefixes) {
      JobPlan plan = following(prefix);
      if (proposed_.insert(plan.guide).second) plans.push_back(std::move(plan));
    }
  }
}

std::size_t EnumerateSearch::most_at_once(std::size_t most) const {
  if (longest_ == 0) return most;
  return std::min(most, std::max(kFewestAtOnce, kMostStepsAtOnce / longest_));
}

bool EnumerateSearch::rests() const {
  const std::uint64_t quiet =
      std::max(options_.quiet, std::min(kQuietTimes * last_brought_, kLongestQuiet));
  return runs_ - last_brought_ >= quiet &&
         std::ranges::all_of(targets_, [](const auto& targets) { return targets.empty(); });
}

std::vector<JobPlan> EnumerateSearch::next(std::size_t most) {
  most = most_at_once(most);
  std::vector<JobPlan> plans;
  const bool may_end =
      options_.together == 1 && options_.end == EnumerateSearchOptions::End::kAtRest;
  if (may_end && runs_ >= next_look_ && rests()) {
    next_look_ = runs_ + kRunsBetweenLooks;
    if (coverage().open == 0) return plans;
  }
  if (runs_ > 0) add_directed(most, plans);
  if (plans.empty() && options_.together > 1) add_combined(most, plans);
  if (plans.size() > most) plans.resize(most);
  return plans.empty() ? wander_.next(most) : plans;
}

void EnumerateSearch::learn(const JobPlan& plan, const JobReport& report) {
  ++runs_;
  longest_ = std::max(longest_, report.trace.steps.size());
  if (time_is_up()) {
    ++too_late_;
    return;
  }
  const Terms::Source source =
      wander_.is_systematic(plan) ? Terms::Source::kSystematic : Terms::Source::kOther;
  wander_.learn(plan, report);
  const Trace& trace = report.trace;
  if (!trace.complete || trace.steps.size() > kLongestTrace ||
      (trace.steps.empty() && report.result.scheduling_points > 0)) {
    ++not_looked_at_;
    return;
  }
  for (const TraceStep& step : trace.steps) executed_.insert(step.place);
  const std::size_t known = terms_.considered();
  const std::vector<Terms::Candidate> candidates =
      terms_.learn(trace, plan, report.verdict, runs_, source);
  if (terms_.considered() != known || terms_.last_new_run() == runs_) last_brought_ = runs_;
  // Schedules are made of scheduling points.
  Trace points;
  std::vector<StepNumber> number;
  for (const TraceStep& step : trace.steps) {
    number.push_back(static_cast<StepNumber>(points.steps.size()));
    if (is_point(step)) points.steps.push_back(step);
  }
  std::vector<Terms::Candidate> reachable;
  const auto is_chosen = [&](StepNumber step) {
    return step == kInitialValue || is_point(trace.steps[step]);
  };
  for (const Terms::Candidate& candidate : candidates) {
    if (!is_chosen(candidate.aim.first) || !is_chosen(candidate.aim.second)) continue;
    Terms::Candidate& one = reachable.emplace_back(candidate);
    if (one.aim.first != kInitialValue) one.aim.first = number[one.aim.first];
    one.aim.second = number[one.aim.second];
  }
  combinations_.learn(terms_, points, plan, report.verdict, runs_);
  take_candidates(points, reachable);
}

bool EnumerateSearch::always_ordered(const Term& term) const {
  return !term.free && term.ordered_runs > options_.quiet / kOrderedShare;
}

TermStatus EnumerateSearch::status(const Term& term) const {
  if (term.seen()) return TermStatus::kSeen;
  if (exhausted()) return TermStatus::kImpossible;
  if (!term.may_be && term.reason.kind != OrderReason::Kind::kNone) return TermStatus::kImpossible;
  return always_ordered(term) && rests() ? TermStatus::kImpossible : TermStatus::kOpen;
}

OrderReason EnumerateSearch::reason(const Term& term) const {
  OrderReason reason;
  if (!term.may_be && term.reason.kind != OrderReason::Kind::kNone) return term.reason;
  if (always_ordered(term)) return term.observed;
  if (exhausted()) reason.kind = OrderReason::Kind::kExhausted;
  return reason;
}

EnumerateSearch::Coverage EnumerateSearch::coverage() const {
  std::map<EventKey, std::uint32_t> of_read;
  for (const Term& term : terms_.all())
    if (terms_.is_shared(term.read)) ++of_read[term.read];
  Coverage coverage;
  for (const Term& term : terms_.all()) {
    if (of_read[term.read] < 2) continue;
    const TermStatus now = status(term);
    ++(now == TermStatus::kSeen         ? coverage.seen
       : now == TermStatus::kImpossible ? coverage.impossible
                                        : coverage.open);
  }
  return coverage;
}

void EnumerateSearch::keep(const Witness& witness, Verdict verdict) {
  const bool is_kept = std::ranges::any_of(kept_, [&](const Kept& kept) {
    return kept.plan == witness.plan && kept.verdict == verdict;
  });
  if (!is_kept && kept_.size() < kMostKept) kept_.push_back({witness.plan, verdict, {}});
}

bool EnumerateSearch::fails_together(const Combinations::Combination& combination) const {
  return combination.failing.runs > 0 && combination.passing.runs == 0 &&
         std::ranges::all_of(combination.terms, [&](Terms::Number number) {
           return terms_.all()[number].passing.runs > 0;
         });
}

const Combinations::Combination* EnumerateSearch::passing_beside(
    const Combinations::Combination& combination) const {
  const auto is_beside = [&](const Combinations::Combination& other) {
    if (other.passing.runs == 0 || other.failing.runs > 0) return false;
    std::size_t differing = 0;
    for (const Terms::Number number : combination.terms) {
      const EventKey& read = terms_.all()[number].read;
      const auto same = std::ranges::find_if(
          other.terms, [&](Terms::Number one) { return terms_.all()[one].read == read; });
      if (same == other.terms.end()) return false;
      differing += *same != number ? 1 : 0;
    }
    return differing == 1;
  };
  const auto found = std::ranges::find_if(combinations_.all(), is_beside);
  return found == combinations_.all().end() ? nullptr : &*found;
}

void EnumerateSearch::keep_combinations() {
  for (const Combinations::Combination& combination : combinations_.all()) {
    if (!fails_together(combination)) continue;
    if (const auto* beside = passing_beside(combination)) keep(beside->passing, Verdict::kPass);
    keep(combination.failing, Verdict::kFail);
  }
}

// Where no term fails always: of the term that fails most often, and of another one of the read that never does.
void EnumerateSearch::keep_most_failing(const SeenTerms& of_read) {
  const auto rate = [](const Term* term) {
    return static_cast<double>(term->failing.runs) /
           static_cast<double>(term->failing.runs + term->passing.runs);
  };
  const Term* failing = nullptr;
  const Term* passing = nullptr;
  for (const auto& [read, of_one] : of_read) {
    const auto never =
        std::ranges::find_if(of_one, [](const Term* term) { return term->failing.runs == 0; });
    if (never == of_one.end()) continue;
    for (const Term* term : of_one)
      if (term->failing.runs > 0 && (failing == nullptr || rate(term) > rate(failing))) {
        failing = term;
        passing = *never;
      }
  }
  if (failing == nullptr) return;
  keep(passing->passing, Verdict::kPass);
  keep(failing->failing, Verdict::kFail);
}

// For each read that fails with one term always and not with another: a run of each. Likewise for combinations.
std::vector<Search::Keep> EnumerateSearch::to_keep() {
  SeenTerms of_read;
  for (const Term& term : terms_.all())
    if (term.seen() && terms_.is_shared(term.read)) of_read[term.read].push_back(&term);
  for (const auto& [read, of_one] : of_read) {
    const auto fails = [](const Term* t) { return t->failing.runs > 0 && t->passing.runs == 0; };
    const auto passes = [](const Term* t) { return t->passing.runs > 0 && t->failing.runs == 0; };
    if (std::ranges::none_of(of_one, fails)) continue;
    const auto passing = std::ranges::find_if(of_one, passes);
    if (passing != of_one.end()) keep((*passing)->passing, Verdict::kPass);
    for (const Term* term : of_one)
      if (fails(term)) keep(term->failing, Verdict::kFail);
  }
  keep_combinations();
  if (std::ranges::none_of(kept_, [](const Kept& kept) { return kept.verdict == Verdict::kPass; }))
    keep_most_failing(of_read);
  // The failing ones last: the newest recording is the one that commands take by default.
  std::vector<Kept> failing;
  for (const Kept& kept : kept_)
    if (kept.verdict == Verdict::kFail) failing.push_back(kept);
  std::erase_if(kept_, [](const Kept& kept) { return kept.verdict == Verdict::kFail; });
  kept_.insert(kept_.end(), failing.begin(), failing.end());
  std::vector<Search::Keep> wanted;
  for (const Kept& kept : kept_) wanted.push_back({*kept.plan, kept.verdict});
  return wanted;
}

void EnumerateSearch::kept(std::size_t which, std::optional<std::uint64_t> recording) {
  if (which < kept_.size()) kept_[which].recording = recording;
}

std::optional<std::uint64_t> EnumerateSearch::recording_of(const Witness& witness,
                                                           Verdict verdict) const {
  for (const Kept& kept : kept_)
    if (witness.plan && kept.plan == witness.plan && kept.verdict == verdict) return kept.recording;
  return std::nullopt;
}

std::optional<std::uint64_t> EnumerateSearch::recording(const Term& term, Verdict verdict) const {
  return recording_of(verdict == Verdict::kFail ? term.failing : term.passing, verdict);
}

std::optional<std::uint64_t> EnumerateSearch::recording(
    const Combinations::Combination& combination, Verdict verdict) const {
  return recording_of(verdict == Verdict::kFail ? combination.failing : combination.passing,
                      verdict);
}

}  // namespace clew
