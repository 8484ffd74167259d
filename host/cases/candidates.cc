#include "host/cases/candidates.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "host/cases/lock_cycle.h"
#include "host/cases/matching.h"
#include "host/enumerate/must_order.h"
#include "host/trace/flipped_pairs.h"

namespace clew {
namespace {

// Of each passing run, and in all. Chosen, not measured.
constexpr std::size_t kMostPairs = 60;
constexpr std::size_t kMostEarlier = 3;
constexpr std::size_t kMostSees = 16;
constexpr std::size_t kMostIntrusions = 60;
constexpr std::size_t kMostIntruders = 32;  // accesses between two of one thread
constexpr std::size_t kMostCandidates = 220;
constexpr std::uint64_t kWord = 8;

using Kind = CaseOrder::Kind;

bool reads(abi::StepKind kind) {
  return kind == abi::StepKind::kRead || kind == abi::StepKind::kUpdate;
}
bool writes(abi::StepKind kind) {
  return kind == abi::StepKind::kWrite || kind == abi::StepKind::kUpdate || abi::ends_life(kind);
}

// Whether the three accesses to the same data, the second of another thread, do what no serial order of the two
// threads does (Lu et al. 2006, AVIO).
bool cannot_be_serial(abi::StepKind earlier, abi::StepKind other, abi::StepKind later) {
  if (writes(other)) return reads(later) || (reads(earlier) && writes(later));
  return reads(other) && writes(earlier) && writes(later);
}

class Candidates {
 public:
  Candidates(const LabRun& failing, const Sites& sites)
      : failing_(failing),
        known_(sites),
        steps_(failing.steps),
        sites_(sites.of(failing.steps)),
        own_(steps_.size()) {
    for (std::size_t i = 0; i < own_; ++i) by_clock_.emplace(steps_[i].clock, i);
  }

  void add_pair(const CriticalPair& pair) {
    const auto first = at(pair.first.clock);
    const auto second = at(pair.second.clock);
    const auto earlier = pair.earlier ? at(pair.earlier->clock) : std::nullopt;
    const auto later = pair.later ? at(pair.later->clock) : std::nullopt;
    if (earlier && first && second) add(Kind::kBetween, {*earlier, *first, *second});
    if (first && second && later) add(Kind::kBetween, {*first, *second, *later});
    if (first && second) add_order(*first, *second);
    if (pair.guarded_first && pair.guarded_second) {
      const auto a = at(pair.guarded_first->clock);
      const auto b = at(pair.guarded_second->clock);
      if (a && b) add_order(*a, *b);
    }
  }

  void add_lock_cycle(const std::vector<const LabRun*>& passing) {
    std::vector<OrderCandidate> plain;
    std::vector<OrderCandidate> counted;
    for (const LockWait& wait : lock_cycle(failing_, passing)) {
      std::optional<std::size_t> attempt = at(wait.attempt.clock);
      if (!attempt || steps_[*attempt] != wait.attempt) {
        attempt.reset();
        for (const LabRun* run : passing)
          if (!attempt) attempt = borrow(*run, wait.attempt);
      }
      if (!attempt) return;
      const auto one = candidate_of(Kind::kBefore, {wait.taken, *attempt}, false);
      if (!one) return;
      add_order(wait.taken, *attempt);
      plain.push_back(*one);
      counted.push_back(*one);
      counted.back().counted = true;
    }
    if (!plain.empty()) cycles_ = {std::move(plain), std::move(counted)};
  }

  // Its clocks are those of the failing run, and its events are accesses behind the point with that
  // number.
  void add_cause(const Cause& cause) {
    const auto step = [&](const std::optional<CauseEvent>& event) {
      return event && event->what != CauseEvent::What::kNothing ? at(event->clock) : std::nullopt;
    };
    const auto use = step(cause.use);
    const auto source = step(cause.failing_source);
    const auto earlier = step(cause.earlier);
    const auto remote = step(cause.remote);
    const auto later = step(cause.later);
    if (cause.pattern == CausePattern::kBetween && earlier && remote && later)
      add(Kind::kBetween, {*earlier, *remote, *later});
    if (cause.pattern == CausePattern::kOverwritten && use && source) {
      add(Kind::kSees, {*use, *source});
      add_order(*source, *use);
    }
    if (cause.pattern == CausePattern::kUseAfterFree && use && source) add_order(*source, *use);
  }

  // Reads that see another write than in the passing run.
  void add_sees(const LabRun& passing) {
    const auto sources = [](const std::vector<TraceStep>& steps) {
      std::map<std::pair<abi::ThreadKey, std::uint64_t>, std::pair<std::size_t, std::size_t>>
          result;
      std::map<std::uint64_t, std::size_t> last;  // write by address
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const TraceStep& step = steps[i];
        if (step.object == 0 || !abi::is_access(step.kind)) continue;
        const auto write = last.find(step.object);
        if (reads(step.kind) && write != last.end())
          result.emplace(std::pair(step.thread, step.own), std::pair(i, write->second));
        if (writes(step.kind)) last[step.object] = i;
      }
      return result;
    };
    const auto there = sources(passing.steps);
    std::size_t count = 0;
    for (const auto& [key, here] : sources(steps_)) {
      const auto [read, write] = here;
      if (steps_[read].thread == steps_[write].thread) continue;
      const auto other = there.find(key);
      const bool same = other != there.end() &&
                        passing.steps[other->second.second].place == steps_[write].place &&
                        passing.steps[other->second.second].thread == steps_[write].thread &&
                        passing.steps[other->second.second].own == steps_[write].own;
      if (same || count >= kMostSees) continue;
      count += add_new(Kind::kSees, {read, write}) ? 1 : 0;
    }
  }

  // Threads that come between two accesses of another one, in the failing run alone: what a passing run does with the same object
  // may be done by other threads, or at another time, and is then not seen to be in another order.
  void add_intrusions() {
    std::map<std::uint64_t, std::vector<std::size_t>> of_word;
    std::size_t count = 0;
    for (std::size_t i = 0; i < own_ && count < kMostIntrusions; ++i) {
      const TraceStep& later = steps_[i];
      if (later.object == 0 || !abi::is_access(later.kind) || sites_[i] == kNoSite) continue;
      std::vector<std::size_t>& before = of_word[later.object / kWord];
      std::vector<std::size_t> others;
      for (std::size_t k = before.size(); k-- > 0 && others.size() < kMostIntruders;) {
        const TraceStep& earlier = steps_[before[k]];
        if (!same_data(earlier, later)) continue;
        if (earlier.thread != later.thread) {
          others.push_back(before[k]);
          continue;
        }
        for (const std::size_t other : others)
          if (cannot_be_serial(earlier.kind, steps_[other].kind, later.kind))
            count += add_new(Kind::kBetween, {before[k], other, i}) ? 1 : 0;
        break;
      }
      before.push_back(i);
    }
  }

  void add_flipped(const LabRun& passing) {
    Trace here;
    Trace there;
    here.steps = failing_.steps;
    here.decisions = failing_.decisions;
    there.steps = passing.steps;
    // What threads do to data says more than how they took locks for it.
    std::vector<EventPair> pairs = flipped_pairs(here, there, kMostPairs);
    std::ranges::partition(pairs, [](const EventPair& pair) {
      return abi::is_access(pair.first.kind) && abi::is_access(pair.second.kind);
    });
    for (const EventPair& pair : pairs) {
      const auto first = at(pair.first.clock);
      const auto second =
          pair.second.clock != 0 ? at(pair.second.clock) : borrow(passing, pair.second);
      if (!first || !second) continue;
      add_between(*first, *second);
      add_order(*first, *second);
    }
  }

  OrderCandidates take() {
    put_fixed_last();
    std::vector<std::vector<std::size_t>> cycles;
    for (const auto& cycle : cycles_) {
      std::vector<std::size_t>& numbers = cycles.emplace_back();
      for (const OrderCandidate& one : cycle)
        numbers.push_back(
            static_cast<std::size_t>(std::ranges::find(found_, one) - found_.begin()));
    }
    return {std::move(steps_), std::move(sites_), std::move(found_), std::move(cycles)};
  }

 private:
  // What creation, joins and barriers order has no other order: that it happens at all follows from what went wrong
  // before, as when main looks at a result after the join.
  void put_fixed_last() {
    const MustOrder must(failing_.steps);
    const auto is_fixed = [&](const OrderCandidate& candidate) {
      std::vector<std::size_t> steps = candidate.steps;
      if (candidate.kind == Kind::kSees) std::ranges::reverse(steps);
      for (std::size_t i = 1; i < steps.size(); ++i)
        if (steps[i - 1] >= own_ || steps[i] >= own_ ||
            !must.precedes(static_cast<StepNumber>(steps[i - 1]), static_cast<StepNumber>(steps[i]),
                           MustOrder::Order::kAlways))
          return false;
      return true;
    };
    std::vector<OrderCandidate> free;
    std::vector<OrderCandidate> fixed;
    for (OrderCandidate& candidate : found_)
      (is_fixed(candidate) ? fixed : free).push_back(std::move(candidate));
    found_ = std::move(free);
    found_.insert(found_.end(), fixed.begin(), fixed.end());
  }

  [[nodiscard]] std::optional<std::size_t> at(std::uint64_t clock) const {
    const auto found = by_clock_.find(clock);
    return clock == 0 || found == by_clock_.end() ? std::nullopt : std::optional(found->second);
  }

  // A step that only the passing run comes to.
  std::optional<std::size_t> borrow(const LabRun& passing, const TraceStep& wanted) {
    const auto is_it = [&](const TraceStep& step) {
      return step.thread == wanted.thread && step.own == wanted.own && step.place == wanted.place;
    };
    if (const auto had =
            std::find_if(steps_.begin() + static_cast<std::ptrdiff_t>(own_), steps_.end(), is_it);
        had != steps_.end())
      return static_cast<std::size_t>(had - steps_.begin());
    const auto found = std::ranges::find_if(passing.steps, is_it);
    if (found == passing.steps.end()) return std::nullopt;
    const auto end = static_cast<std::size_t>(found - passing.steps.begin()) + 1;
    steps_.push_back(*found);
    sites_.push_back(known_.of(std::span(passing.steps).first(end)).back());
    return steps_.size() - 1;
  }

  void add_order(std::size_t first, std::size_t second) {
    add(Kind::kBefore, {first, second});
    add(Kind::kBefore, {first, second}, true);
  }

  // One thread comes between two accesses of the other to the same data.
  void add_between(std::size_t first, std::size_t second) {
    const TraceStep& a = steps_[first];
    const TraceStep& b = steps_[second];
    // The nearest of each statement, a few of them: a call may have several before.
    std::vector<SiteId> tried;
    for (std::size_t i = std::min(first, own_); i-- > 0 && tried.size() < kMostEarlier;) {
      const TraceStep& earlier = steps_[i];
      if (earlier.thread != b.thread || !same_data(earlier, b) ||
          earlier.kind == abi::StepKind::kUnlock ||
          std::ranges::find(tried, sites_[i]) != tried.end())
        continue;
      tried.push_back(sites_[i]);
      add(Kind::kBetween, {i, first, second});
    }
    for (std::size_t i = second + 1; i < own_; ++i)
      if (steps_[i].thread == a.thread && same_data(steps_[i], a) &&
          steps_[i].kind != abi::StepKind::kUnlock) {
        add(Kind::kBetween, {first, second, i});
        break;
      }
  }

  void add(Kind kind, std::vector<std::size_t> steps, bool counted = false) {
    auto candidate = candidate_of(kind, std::move(steps), counted);
    if (candidate && std::ranges::find(found_, *candidate) == found_.end())
      found_.push_back(std::move(*candidate));
  }
  // One that no other says already. Whether it was added.
  bool add_new(Kind kind, std::vector<std::size_t> steps) {
    auto candidate = candidate_of(kind, std::move(steps), false);
    if (!candidate || std::ranges::any_of(found_, [&](const OrderCandidate& other) {
          return says_the_same(other, *candidate);
        }))
      return false;
    found_.push_back(std::move(*candidate));
    return true;
  }
  [[nodiscard]] std::optional<OrderCandidate> candidate_of(Kind kind,
                                                           std::vector<std::size_t> steps,
                                                           bool counted) const {
    if (found_.size() >= kMostCandidates) return std::nullopt;
    for (const std::size_t i : steps)
      if (sites_[i] == kNoSite) return std::nullopt;
    const TraceStep& first = steps_[steps[0]];
    if (first.thread == steps_[steps[1]].thread) return std::nullopt;
    if (steps.size() == 3 && first.thread != steps_[steps[2]].thread) return std::nullopt;
    OrderCandidate candidate{kind, std::move(steps), true, counted};
    for (const std::size_t i : candidate.steps) candidate.same_data &= same_data(first, steps_[i]);
    if (kind == Kind::kSees && !candidate.same_data) return std::nullopt;
    return candidate;
  }
  // A case of one order names no threads, and instances only if they are counted.
  [[nodiscard]] bool says_the_same(const OrderCandidate& a, const OrderCandidate& b) const {
    return a.kind == b.kind && a.same_data == b.same_data && a.counted == b.counted &&
           std::ranges::equal(a.steps, b.steps,
                              [&](std::size_t x, std::size_t y) { return sites_[x] == sites_[y]; });
  }

  const LabRun& failing_;
  const Sites& known_;
  std::vector<TraceStep> steps_;
  std::vector<SiteId> sites_;
  std::size_t own_;  // steps of the failing run
  std::map<std::uint64_t, std::size_t> by_clock_;
  std::vector<OrderCandidate> found_;
  std::vector<std::vector<OrderCandidate>> cycles_;
};

}  // namespace

OrderCandidates order_candidates(const LabRun& failing, const Sites& sites,
                                 const std::vector<const LabRun*>& passing,
                                 const std::optional<CriticalPair>& pair,
                                 const std::optional<Cause>& cause) {
  Candidates candidates(failing, sites);
  candidates.add_lock_cycle(passing);
  if (cause) candidates.add_cause(*cause);
  if (pair) candidates.add_pair(*pair);
  for (const LabRun* run : passing) candidates.add_sees(*run);
  candidates.add_intrusions();
  for (const LabRun* run : passing) candidates.add_flipped(*run);
  return candidates.take();
}

void describe(const std::vector<OrderCandidate>& chosen, const OrderCandidates& from,
              const Sites& sites, Case& one) {
  one.events.clear();
  one.orders.clear();
  std::map<abi::ThreadKey, std::uint32_t> threads;
  std::map<std::size_t, std::size_t> events;  // by step
  // In the order of the run.
  for (const OrderCandidate& candidate : chosen)
    for (const std::size_t step : candidate.steps) events.emplace(step, 0);
  for (auto& [step, event] : events) {
    event = one.events.size();
    CaseEvent now;
    now.name = std::string(1, static_cast<char>('a' + event % 26)) +
               (event < 26 ? "" : std::to_string(event / 26));
    now.thread =
        threads.try_emplace(from.steps[step].thread, static_cast<std::uint32_t>(threads.size() + 1))
            .first->second;
    now.at = sites.anchor_of(from.sites[step]);
    // What the program's table alone knows of a place is that something is called there.
    if (anchor_word(now.at.kind) == nullptr) now.at.kind = from.steps[step].kind;
    one.events.push_back(std::move(now));
  }
  for (const OrderCandidate& candidate : chosen) {
    CaseOrder order{candidate.kind, {}, candidate.same_data};
    for (const std::size_t step : candidate.steps) {
      order.events.push_back(events[step]);
      if (!candidate.counted) continue;
      std::uint64_t count = 0;
      for (std::size_t i = 0; i <= step; ++i)
        count +=
            from.steps[i].thread == from.steps[step].thread && from.sites[i] == from.sites[step];
      one.events[events[step]].time = count;
    }
    one.orders.push_back(std::move(order));
  }
}

}  // namespace clew
