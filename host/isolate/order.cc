#include "host/isolate/order.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/search/fuzz_search.h"
#include "host/trace/overlap.h"

namespace clew {
namespace {

// Chosen, not measured: the answer should take no longer than the isolation before it.
constexpr std::size_t kMostPairs = 64;
constexpr std::size_t kPairsOfLong = 4;
// Runs of similar schedules, and how many events they may have in all.
constexpr std::size_t kMostSimilar = 96;
constexpr std::size_t kFewestSimilar = 16;
constexpr std::uint64_t kSimilarEvents = 2'000'000;
constexpr std::uint64_t kLongestSimilar = 50'000;
constexpr std::size_t kRound = 16;
constexpr std::uint64_t kEnoughRuns = 3;
constexpr std::uint64_t kTracedOfLong = 400'000;

// An event by what it is in every run: the thread's n-th passage of a place.
struct Passage {
  abi::ThreadKey thread = 0;
  abi::Place place = 0;
  std::uint64_t time = 0;  // from 1
  bool operator==(const Passage&) const = default;
};
struct PassageHash {
  std::size_t operator()(const Passage& passage) const {
    return (passage.thread ^ passage.place * 0x9e3779b97f4a7c15) + passage.time * 0x85ebca6b;
  }
};
using Passages = std::unordered_map<Passage, std::uint64_t, PassageHash>;  // to the clock

// Of a trace from the start of a run.
template <class Wanted>
void for_each_passage(const Trace& trace, Wanted&& wanted) {
  std::unordered_map<Passage, std::uint64_t, PassageHash> times;
  for (const TraceStep& step : trace.steps)
    wanted(Passage{step.thread, step.place, ++times[{step.thread, step.place, 0}]}, step);
}

Passages passages_of(const Trace& trace) {
  Passages passages;
  for_each_passage(trace, [&](const Passage& passage, const TraceStep& step) {
    passages.emplace(passage, step.clock);
  });
  return passages;
}

std::optional<Passage> passage_of(const Trace& trace, const TraceStep& event) {
  std::optional<Passage> found;
  for_each_passage(trace, [&](const Passage& passage, const TraceStep& step) {
    if (step.thread == event.thread && step.own == event.own) found = passage;
  });
  return found;
}

struct Candidate {
  EventPair pair;
  std::optional<Passage> first = {};  // nothing: not to be found in other runs
  std::optional<Passage> second = {};
  // An access of the thread of the second before the first, or of the thread of the first behind
  // the second: the pair is about what comes between.
  std::optional<TraceStep> earlier = {};
  std::optional<TraceStep> later = {};
  std::optional<Passage> third = {};  // of either
  CriticalPair::Swapped swapped = CriticalPair::Swapped::kNotTried;
  bool alone = false;
  CriticalPair::Tally this_order = {};
  CriticalPair::Tally other_order = {};

  std::uint64_t counterexamples() const { return this_order.passed + other_order.failed; }
};

// The order of the two events in a run.
enum class Order : std::uint8_t { kUnknown, kThis, kOther };
Order order_in(const Passages& run, const Candidate& candidate, bool failed) {
  if (!candidate.first || !candidate.second) return Order::kUnknown;
  const auto first = run.find(*candidate.first);
  const auto second = run.find(*candidate.second);
  if (first != run.end() && second != run.end()) {
    bool as_failing = first->second < second->second;
    if (candidate.third) {
      const auto third = run.find(*candidate.third);
      if (third == run.end()) return Order::kUnknown;
      as_failing = as_failing && (candidate.earlier ? third->second < first->second
                                                    : third->second > second->second);
    }
    return as_failing ? Order::kThis : Order::kOther;
  }
  if (candidate.third) return Order::kUnknown;
  // A run that failed may have ended before one of them.
  if (!failed) return Order::kUnknown;
  return first != run.end() ? Order::kThis : second != run.end() ? Order::kOther : Order::kUnknown;
}

// Of a run that is the failing one up to the first event.
bool is_swapped(const Trace& trace, const EventPair& pair) {
  const auto clock_of = [&](const TraceStep& event) {
    for (const TraceStep& step : trace.steps)
      if (step.thread == event.thread && step.own == event.own && step.place == event.place)
        return step.clock;
    return std::uint64_t{0};
  };
  const std::uint64_t second = clock_of(pair.second);
  return second != 0 && second < clock_of(pair.first);
}

class OrderFinder {
 public:
  OrderFinder(Experiment& experiment, const Narrowed& narrowed, SourceView& view,
              const Trace& failing, const Trace& passing)
      : x_(experiment), narrowed_(narrowed), view_(view), failing_(failing), passing_(passing) {}

  Result<std::optional<EventPair>> find();

 private:
  bool is_short() const {
    return !x_.trials.has_checkpoints() && x_.trials.failure().result.clock <= kLongestSimilar;
  }
  std::optional<Schedule> swapped(const Candidate& candidate) const;
  Result<void> name_events();
  void add_triples(const Trace& failing);
  Result<void> swap_each();
  Result<void> swap_last_ones();
  Result<void> run_similar();
  Result<void> tally(const Side& side, Verdict looking_for, std::size_t count);
  unsigned remoteness(const EventPair& pair);
  const Candidate& best();
  void tell(const Candidate& chosen);

  Experiment& x_;
  const Narrowed& narrowed_;
  SourceView& view_;
  const Trace& failing_;
  const Trace& passing_;
  std::vector<EventPair> pairs_;
  std::vector<Candidate> candidates_;
};

std::optional<Schedule> OrderFinder::swapped(const Candidate& candidate) const {
  const EventPair& pair = candidate.pair;
  const auto first = ThreadId::parse(view_.thread(pair.first.thread));
  const auto second = ThreadId::parse(view_.thread(pair.second.thread));
  if (!first || !second) return std::nullopt;
  return flipped(narrowed_.failing.schedule, failing_, pair, *first, *second);
}

// So that they are found in other runs as well.
Result<void> OrderFinder::name_events() {
  const auto whole = [&](const Schedule& schedule) {
    return x_.trials.run_traced(schedule, 1, UINT64_MAX);
  };
  CLEW_TRY(const auto failing, whole(narrowed_.failing.schedule));
  CLEW_TRY(const auto passing, whole(narrowed_.passing.schedule));
  if (!failing || !passing || !failing->trace.complete || !passing->trace.complete) return {};
  for (Candidate& one : candidates_) {
    one.first = passage_of(failing->trace, one.pair.first);
    one.second =
        passage_of(one.pair.second.clock != 0 ? failing->trace : passing->trace, one.pair.second);
  }
  add_triples(failing->trace);
  return {};
}

// What one thread does between two accesses of another to the same memory is often the whole story:
// a value that is not the one that was read, a check that no longer holds.
void OrderFinder::add_triples(const Trace& failing) {
  const auto touches = [](const TraceStep& step, const TraceStep& of_pair) {
    return abi::is_access(step.kind) && overlap(step, of_pair);
  };
  const std::size_t pairs = candidates_.size();
  for (std::size_t i = 0; i < pairs; ++i) {
    const Candidate pair = candidates_[i];
    const TraceStep& first = pair.pair.first;
    const TraceStep& second = pair.pair.second;
    if (!pair.first || !pair.second || !abi::is_access(first.kind) ||
        !abi::is_access(second.kind) || second.clock == 0)
      continue;
    const TraceStep* earlier = nullptr;
    const TraceStep* later = nullptr;
    for (const TraceStep& step : failing.steps) {
      if (step.thread == second.thread && step.clock < first.clock && touches(step, first))
        earlier = &step;
      if (step.thread == first.thread && step.clock > second.clock && touches(step, second) &&
          later == nullptr)
        later = &step;
    }
    if (earlier != nullptr) {
      Candidate triple = pair;
      triple.earlier = *earlier;
      triple.third = passage_of(failing, *earlier);
      candidates_.push_back(triple);
    }
    if (later != nullptr) {
      Candidate triple = pair;
      triple.later = *later;
      triple.third = passage_of(failing, *later);
      candidates_.push_back(triple);
    }
  }
}

Result<void> OrderFinder::swap_each() {
  std::vector<JobPlan> plans;
  std::vector<Candidate*> tried;
  for (Candidate& one : candidates_) {
    const auto schedule = one.third ? std::nullopt : swapped(one);
    if (!schedule) continue;
    JobPlan& plan = plans.emplace_back(job_of(*schedule));
    plan.flags |= abi::kJobWholeTrace;
    plan.window = {1, UINT64_MAX};
    tried.push_back(&one);
  }
  CLEW_TRY(const auto runs, x_.trials.run(plans));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const TrialRun& run = runs[i];
    const Order order =
        order_in(passages_of(run.trace), *tried[i], run.judgement.verdict == Verdict::kFail);
    if (order != Order::kOther) continue;  // another wait or lock was in the way
    tried[i]->swapped = run.verdict == Verdict::kPass   ? CriticalPair::Swapped::kPasses
                        : run.verdict == Verdict::kFail ? CriticalPair::Swapped::kFails
                                                        : CriticalPair::Swapped::kOther;
    if (run.verdict == Verdict::kPass)
      tried[i]->alone = flipped_pairs(failing_, run.trace, 2).size() == 1;
  }
  // Swapping two of three is swapping the two.
  for (Candidate& one : candidates_) {
    if (!one.third) continue;
    const auto pair = std::ranges::find_if(candidates_, [&](const Candidate& other) {
      return !other.third && other.first == one.first && other.second == one.second;
    });
    one.swapped = pair->swapped;
    one.alone = pair->alone;
  }
  return {};
}

// Runs that are long: the pairs nearest to the failure, one by one, up to the first that decides.
Result<void> OrderFinder::swap_last_ones() {
  const std::size_t end = candidates_.size() > kPairsOfLong ? candidates_.size() - kPairsOfLong : 0;
  for (std::size_t i = candidates_.size(); i-- > end;) {
    const auto schedule = swapped(candidates_[i]);
    if (!schedule) continue;
    const EventPair& pair = candidates_[i].pair;
    CLEW_TRY(const auto run,
             x_.trials.run_traced(*schedule, pair.first.clock, pair.first.clock + kTracedOfLong));
    if (!run) return {};
    if (run->verdict != Verdict::kPass || !is_swapped(run->trace, pair)) continue;
    candidates_[i].swapped = CriticalPair::Swapped::kPasses;
    return {};
  }
  return {};
}

Result<void> OrderFinder::tally(const Side& side, Verdict looking_for, std::size_t count) {
  FuzzSearch fuzz(side.schedule, looking_for, side.end.value, x_.options.seed);
  for (std::size_t done = 0; done < count;) {
    std::vector<JobPlan> plans = fuzz.next(std::min(kRound, count - done));
    if (plans.empty()) return {};
    std::vector<JobPlan> traced = plans;
    for (JobPlan& plan : traced) {
      plan.flags |= abi::kJobWholeTrace;
      plan.window = {1, UINT64_MAX};
    }
    CLEW_TRY(const auto runs, x_.trials.run(traced));
    if (runs.empty()) return {};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const TrialRun& run = runs[i];
      // So that it widens: runs near and far.
      fuzz.learn(plans[i], {run.result, Verdict::kUnresolved, false, {}});
      const bool failed = run.verdict == Verdict::kFail;
      if (!run.trace.complete || (!failed && run.judgement.verdict != Verdict::kPass)) continue;
      const Passages passages = passages_of(run.trace);
      for (Candidate& one : candidates_) {
        const Order order = order_in(passages, one, failed);
        if (order == Order::kUnknown) continue;
        CriticalPair::Tally& runs_so = order == Order::kThis ? one.this_order : one.other_order;
        ++(failed ? runs_so.failed : runs_so.passed);
      }
    }
    done += plans.size();
  }
  return {};
}

Result<void> OrderFinder::run_similar() {
  const std::uint64_t clock = std::max<std::uint64_t>(1, x_.trials.failure().result.clock);
  const std::size_t count =
      std::clamp<std::size_t>(kSimilarEvents / clock, kFewestSimilar, kMostSimilar);
  CLEW_CHECK_OK(tally(narrowed_.failing, Verdict::kPass, count / 2));
  return tally(narrowed_.passing, Verdict::kFail, count / 2);
}

// How far the pair is from what the user wrote: accesses of the program's own code, then its calls,
// then what libraries do inside.
unsigned OrderFinder::remoteness(const EventPair& pair) {
  unsigned most = 0;
  for (const TraceStep* event : {&pair.first, &pair.second}) {
    const auto at = view_.location(event->place);
    const bool users = at && is_user_location(*at);
    most = std::max(most, !users ? 2u : abi::is_access(event->kind) ? 0u : 1u);
  }
  return most;
}

// Similar schedules all agree; then swapping decides; then the fewest counterexamples; then the
// nearest to the program's own code; then the nearest to the failure.
const Candidate& OrderFinder::best() {
  const auto rank = [&](const Candidate& one) {
    using Swapped = CriticalPair::Swapped;
    const std::uint64_t runs = one.this_order.failed + one.other_order.passed;
    // One of many candidates may agree with a few runs by chance.
    const bool agree = one.counterexamples() == 0 && one.this_order.failed >= kEnoughRuns &&
                       one.other_order.passed >= kEnoughRuns;
    return std::tuple(agree ? 0 : 1, one.swapped == Swapped::kPasses ? 0 : 1, one.counterexamples(),
                      runs == 0 ? 1 : 0, one.swapped == Swapped::kFails ? 1 : 0,
                      remoteness(one.pair), one.third ? 1 : 0);
  };
  const Candidate* best = &candidates_.back();
  auto best_rank = rank(*best);
  for (auto one = candidates_.rbegin() + 1; one != candidates_.rend(); ++one)
    if (const auto its = rank(*one); its < best_rank) {
      best = &*one;
      best_rank = its;
    }
  return *best;
}

void OrderFinder::tell(const Candidate& chosen) {
  CriticalPair& found = x_.result.pair.emplace();
  found.first = view_.event(chosen.pair.first);
  found.second = view_.event(chosen.pair.second);
  if (chosen.earlier) found.earlier = view_.event(*chosen.earlier);
  if (chosen.later) found.later = view_.event(*chosen.later);
  found.swapped = chosen.swapped;
  found.alone = chosen.alone;
  found.this_order = chosen.this_order;
  found.other_order = chosen.other_order;
  if (const auto guarded = guarded_pair(failing_, passing_, pairs_, chosen.pair)) {
    found.guarded_first = view_.event(guarded->first);
    found.guarded_second = view_.event(guarded->second);
  }
}

Result<std::optional<EventPair>> OrderFinder::find() {
  x_.stage = IsolateStage::kOrder;
  pairs_ = flipped_pairs(failing_, passing_, kMostPairs);
  if (pairs_.empty()) return std::nullopt;
  for (const EventPair& pair : pairs_) candidates_.push_back({pair});
  if (is_short()) {
    CLEW_CHECK_OK(name_events());
    CLEW_CHECK_OK(swap_each());
    CLEW_CHECK_OK(run_similar());
  } else {
    CLEW_CHECK_OK(swap_last_ones());
  }
  const Candidate& chosen = best();
  // An order that differs, but that no run shows to matter, says nothing.
  const bool refuted = chosen.this_order.failed == 0 && chosen.this_order.passed >= kEnoughRuns;
  const bool matters = (chosen.swapped == CriticalPair::Swapped::kPasses && !refuted) ||
                       (chosen.this_order.failed > 0 && chosen.counterexamples() == 0);
  if (!matters) return std::nullopt;
  tell(chosen);
  return chosen.pair;
}

}  // namespace

Result<std::optional<EventPair>> find_order(Experiment& experiment, const Narrowed& narrowed,
                                            SourceView& view, const Trace& failing,
                                            const Trace& passing) {
  return OrderFinder(experiment, narrowed, view, failing, passing).find();
}

}  // namespace clew
