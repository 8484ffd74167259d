#include "host/enumerate/combinations.h"

#include <algorithm>
#include <span>

#include "host/enumerate/occurrences.h"

namespace clew {
namespace {

// Chosen, not measured: limits of memory and work.
constexpr std::size_t kMostCombinations = 20'000;
constexpr std::size_t kMostBaseRuns = 8;
constexpr std::size_t kLongestBase = 20'000;
constexpr std::uint64_t kMostAttempts = 24;

}  // namespace

void Combinations::add_all(const Terms& terms) {
  // Terms of reads that have a choice. What fails with one term alone says nothing about others.
  std::map<EventKey, std::vector<Terms::Number>> of_read;
  std::size_t seen = 0;
  for (Terms::Number i = 0; i < terms.all().size(); ++i)
    if (terms.all()[i].passing.runs > 0 && terms.is_shared(terms.all()[i].read)) {
      of_read[terms.all()[i].read].push_back(i);
      ++seen;
    }
  if (seen == known_terms_) return;
  known_terms_ = seen;
  std::erase_if(of_read, [](const auto& read) { return read.second.size() < 2; });
  std::vector<Terms::Number> chosen;
  const auto extend = [&](const auto& self, auto read) -> void {
    if (chosen.size() == together_) {
      std::vector<Terms::Number> key = chosen;
      std::ranges::sort(key);
      if (numbers_.contains(key)) return;
      if (all_.size() >= kMostCombinations) {
        is_cut_ = true;
        return;
      }
      numbers_[key] = all_.size();
      all_.push_back({std::move(key), {}, {}, 0});
      return;
    }
    for (; read != of_read.end() && !is_cut_; ++read) {
      for (const Terms::Number term : read->second) {
        chosen.push_back(term);
        self(self, std::next(read));
        chosen.pop_back();
      }
    }
  };
  extend(extend, of_read.begin());
}

void Combinations::learn(const Terms& terms, const Trace& trace, const JobPlan& plan,
                         Verdict verdict, std::uint64_t run) {
  if (together_ < 2) return;
  add_all(terms);
  std::vector<bool> shown(terms.all().size());
  for (const Terms::Number term : terms.shown()) shown[term] = true;
  std::shared_ptr<const JobPlan> kept;
  for (Combination& combination : all_) {
    if (!std::ranges::all_of(combination.terms, [&](Terms::Number term) { return shown[term]; }))
      continue;
    Witness& witness = verdict == Verdict::kFail ? combination.failing : combination.passing;
    if (verdict == Verdict::kUnresolved || witness.runs++ != 0) continue;
    if (!kept) kept = std::make_shared<const JobPlan>(plan);
    witness.plan = kept;
    witness.run = run;
  }
  if (trace.steps.size() > kLongestBase) return;
  if (bases_.size() == kMostBaseRuns) bases_.pop_front();
  Base& base =
      bases_.emplace_back(std::make_shared<const BaseRun>(trace), std::map<EventKey, StepNumber>{});
  const std::vector<std::uint64_t> times = occurrences(trace.steps);
  for (StepNumber i = 0; i < trace.steps.size(); ++i) {
    const TraceStep& step = trace.steps[i];
    base.steps.try_emplace(terms.key_of(step, times[i]), i);
  }
}

std::vector<std::vector<std::uint32_t>> Combinations::propose_next(const Terms& terms) {
  for (std::size_t tried = 0; tried < all_.size(); ++tried) {
    Combination& combination = all_[next_++ % all_.size()];
    if (combination.seen() || combination.attempts >= kMostAttempts) continue;
    for (auto base = bases_.rbegin(); base != bases_.rend(); ++base) {
      std::vector<Aim> aims;
      for (const Terms::Number number : combination.terms) {
        const Term& term = terms.all()[number];
        const auto read = base->steps.find(term.read);
        const auto write = base->steps.find(term.write);
        const bool initial = term.write.place == 0;
        if (read == base->steps.end() || (!initial && write == base->steps.end())) break;
        aims.push_back({Aim::Kind::kSees, initial ? kInitialValue : write->second, read->second});
      }
      if (aims.size() != combination.terms.size()) continue;
      auto prefixes = propose(base->run->model, aims);
      combination.attempts += std::max<std::size_t>(prefixes.size(), 1);
      if (!prefixes.empty()) return prefixes;
    }
    if (bases_.empty()) return {};
    combination.attempts += 1;
  }
  return {};
}

}  // namespace clew
