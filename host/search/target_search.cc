#include "host/search/target_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/trace/trace_sharing.h"

namespace clew {
namespace {

// A thread's contended steps beyond are not looked at: what comes later in a long run is mostly
// more of the same. The limits are chosen, not measured.
constexpr std::size_t kMostSteps = 400;
constexpr std::size_t kMostThreads = 4096;
constexpr std::size_t kMostStepsOfAll = 100'000;
// Of the steps at one place: the first ones and the last.
constexpr std::uint64_t kOccurrences = 2;
constexpr std::size_t kMostTargets = 20'000;
// A thread that others wait for in loops is let go after so many of their steps.
constexpr std::uint64_t kLongestHold = 20'000;

// Scores: targets are tried in this order, the likelier first. Chosen; what comes of them is
// measured by bench/hunt/run.
constexpr int kDeadlock = 1000;
constexpr int kCycle = 900;
constexpr std::size_t kLongestCycle = 5;  // threads
constexpr std::size_t kMostCycles = 64;
constexpr std::size_t kMostLinks = 100'000;  // looked at
constexpr int kOneVariable = 500;
constexpr int kSeveralVariables = 400;
constexpr int kTelling = 40;
constexpr int kRacy = 20;
constexpr int kStaleRead = 350;  // A has read what B then writes
constexpr int kHalfDone = 250;   // A has written what B then reads or writes
constexpr int kOrder = 150;      // B does first what it was seen to do after A
constexpr int kAllStop = 110;
constexpr int kReversed = 100;
constexpr int kSynchronisation = 60;
constexpr int kOtherKind = 50;  // added if A and B do different things
constexpr int kLater = 5;       // taken off for each further occurrence
constexpr int kOtherWay = 200;  // taken off for the less likely way to get to the stop
// How far behind the stop a conflict still counts as what A continues with.
constexpr std::size_t kNext = 3;

bool writes(abi::StepKind kind) { return kind != abi::StepKind::kRead; }
bool reads(abi::StepKind kind) {
  return kind == abi::StepKind::kRead || kind == abi::StepKind::kUpdate;
}

using Locks = std::vector<std::uint64_t>;  // objects held, in the order taken

bool contains(const Locks& locks, std::uint64_t lock) {
  return std::ranges::find(locks, lock) != locks.end();
}

bool disjoint(const Locks& a, const Locks& b) {
  return std::ranges::none_of(a, [&](std::uint64_t lock) { return contains(b, lock); });
}

struct Step {
  TraceStep event;
  std::size_t position = 0;      // in the trace
  std::uint64_t occurrence = 0;  // of its place in the thread, from 1
  Locks held;                    // before it
  bool racy = false;             // no lock protects all accesses to the object
  bool is_data() const { return abi::is_access(event.kind); }
};

bool conflicts(const TraceStep& a, const TraceStep& b) {
  if (!writes(a.kind) && !writes(b.kind)) return false;
  const auto end = [](const TraceStep& e) { return e.object + std::max(e.size, 1u); };
  return a.object < end(b) && b.object < end(a);
}

// Table 1 of AVIO: p and q of one thread, r of another, on one variable, with no serial order that
// gives the same.
bool unserializable(abi::StepKind p, abi::StepKind r, abi::StepKind q) {
  if (reads(p) && writes(r) && reads(q)) return true;
  if (reads(p) && writes(r) && writes(q)) return true;
  if (writes(p) && reads(r) && writes(q)) return true;
  return writes(p) && writes(r) && reads(q);
}

}  // namespace

struct TargetSearch::Thread {
  abi::ThreadKey key = 0;
  std::uint64_t kind = 0;  // of the places it touches
  std::vector<Step> steps;
  // Steps until it first used what another thread had written, or waited: so far it goes alone as
  // well.
  std::size_t alone_until = 0;
  std::vector<std::pair<Locks, std::uint64_t>> taken;  // locks held when another was taken
};

// What one trace says.
class TargetSearch::Analysis {
 public:
  Analysis(std::span<const TraceStep> trace, std::map<abi::ThreadKey, std::uint64_t>& kinds);
  const std::vector<Thread>& threads() const { return threads_; }
  // `lockstep`: the trace is of a run in lockstep.
  void find_targets(TargetSearch& search, bool lockstep) const;

 private:
  void find_racy();
  const Thread* partner(const Thread& a, std::uint64_t kind) const;
  static int score(const Thread& a, std::size_t at, const Thread& b);
  static std::vector<std::size_t> stops(const Thread& a);
  static bool takes_in_other_order(const Step& q, const Thread& b);
  void targets_of(const Thread& a, TargetSearch& search, bool lockstep) const;
  void all_stop(TargetSearch& search) const;
  void cycles(TargetSearch& search) const;
  void reversed(TargetSearch& search) const;

  std::vector<Thread> threads_;  // in order of their first step
};

TargetSearch::Analysis::Analysis(std::span<const TraceStep> trace,
                                 std::map<abi::ThreadKey, std::uint64_t>& kinds) {
  const std::vector<bool> contended = clew::contended(trace);
  std::unordered_map<abi::ThreadKey, std::size_t> index;
  std::vector<Locks> held;
  std::size_t steps = 0;
  std::unordered_map<std::uint64_t, abi::ThreadKey> last_writer;  // of eight bytes
  std::vector<bool> depends;
  std::vector<std::unordered_map<abi::Place, std::uint64_t>> seen;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceStep& event = trace[i];
    const auto [at, is_new] = index.try_emplace(event.thread, threads_.size());
    if (is_new) {
      if (threads_.size() == kMostThreads) {
        index.erase(at);
        continue;
      }
      threads_.emplace_back().key = event.thread;
      held.emplace_back();
      depends.push_back(false);
      seen.emplace_back();
    }
    Thread& thread = threads_[at->second];
    Locks& locks = held[at->second];
    const std::uint64_t occurrence = ++seen[at->second][event.place];
    if (contended[i] && thread.steps.size() < kMostSteps && ++steps <= kMostStepsOfAll)
      thread.steps.push_back({event, i, occurrence, locks});
    if (event.kind == abi::StepKind::kWait) depends[at->second] = true;
    if (contended[i] && abi::is_access(event.kind)) {
      for_each_granule(event, [&](std::uint64_t granule, std::uint8_t) {
        const auto writer = last_writer.find(granule);
        if (reads(event.kind) && writer != last_writer.end() && writer->second != event.thread)
          depends[at->second] = true;
        if (writes(event.kind)) last_writer[granule] = event.thread;
      });
    }
    if (!depends[at->second]) thread.alone_until = thread.steps.size();
    if (event.kind == abi::StepKind::kLock) {
      // One that the thread has, or has tried to take in vain (a time limit), is no other.
      if (contains(locks, event.object)) continue;
      if (!locks.empty()) thread.taken.emplace_back(locks, event.object);
      locks.push_back(event.object);
    } else if (event.kind == abi::StepKind::kUnlock) {
      if (const auto lock = std::ranges::find(locks, event.object); lock != locks.end())
        locks.erase(lock);
    }
  }
  std::erase_if(threads_, [](const Thread& thread) { return thread.steps.empty(); });
  find_racy();
  // The kind that a thread was first seen to be of stays: in another run it may touch more or less.
  for (Thread& thread : threads_) {
    std::uint64_t& kind = kinds[thread.key];
    if (kind == 0) {
      std::set<abi::Place> places;
      for (const Step& step : thread.steps) places.insert(step.event.place);
      for (const abi::Place place : places) kind = mix(kind, place);
    }
    thread.kind = kind;
  }
}

// Savage et al., "Eraser", TOCS 1997: the locks held at all accesses to an object; none: racy.
void TargetSearch::Analysis::find_racy() {
  std::unordered_map<std::uint64_t, Locks> protection;
  for (const Thread& thread : threads_)
    for (const Step& step : thread.steps) {
      if (!step.is_data()) continue;
      const auto [locks, is_new] = protection.try_emplace(step.event.object >> 3, step.held);
      if (!is_new)
        std::erase_if(locks->second,
                      [&](std::uint64_t lock) { return !contains(step.held, lock); });
    }
  for (Thread& thread : threads_)
    for (Step& step : thread.steps)
      step.racy = step.is_data() && protection[step.event.object >> 3].empty();
}

const TargetSearch::Thread* TargetSearch::Analysis::partner(const Thread& a,
                                                            std::uint64_t kind) const {
  // The next after A in the order in which they were seen, so that as little as possible changes.
  const auto self = std::ranges::find(threads_, a.key, &Thread::key);
  const auto is_partner = [&](const Thread& b) { return b.kind == kind && b.key != a.key; };
  auto found = std::find_if(self, threads_.end(), is_partner);
  if (found == threads_.end()) found = std::find_if(threads_.begin(), self, is_partner);
  return found != threads_.end() && is_partner(*found) ? &*found : nullptr;
}

bool TargetSearch::Analysis::takes_in_other_order(const Step& q, const Thread& b) {
  if (q.event.kind != abi::StepKind::kLock) return false;
  return std::ranges::any_of(b.taken, [&](const auto& taken) {
    return contains(taken.first, q.event.object) && contains(q.held, taken.second);
  });
}

// How promising it is to hold A before its step number `at` while B runs; 0: pointless. What A has
// done is its last access to data before, what it continues with are the next ones: the locks taken
// and given back in between matter only in that B must not need them.
int TargetSearch::Analysis::score(const Thread& a, std::size_t at, const Thread& b) {
  const Step& stop = a.steps[at];
  if (takes_in_other_order(stop, b)) return kDeadlock;
  const Step* before = nullptr;
  for (std::size_t i = at; i-- > 0 && before == nullptr;)
    if (a.steps[i].is_data()) before = &a.steps[i];
  std::vector<const Step*> next;
  for (std::size_t i = at; i < a.steps.size() && next.size() < kNext; ++i)
    if (a.steps[i].is_data()) next.push_back(&a.steps[i]);
  bool one_variable = false;
  bool with_before = false;
  bool with_next = false;
  bool reads_before = false;
  bool reads_next = false;  // what A writes
  bool reorders = false;
  bool synchronises = false;
  for (const Step& r : b.steps) {
    // What needs a lock that A holds cannot come in between.
    if (!disjoint(stop.held, r.held) || contains(stop.held, r.event.object)) continue;
    synchronises |= conflicts(r.event, stop.event);
    const bool r_with_before = before != nullptr && conflicts(r.event, before->event);
    with_before |= r_with_before;
    reads_before |= r_with_before && reads(r.event.kind);
    for (const Step* q : next) {
      if (!conflicts(r.event, q->event)) continue;
      with_next = true;
      reads_next |= reads(r.event.kind) && writes(q->event.kind);
      reorders |= r.position > q->position;
      one_variable |= r_with_before && before->event.object == q->event.object && r.is_data() &&
                      q == next.front() &&
                      unserializable(before->event.kind, r.event.kind, q->event.kind);
    }
  }
  const int other = a.kind != b.kind ? kOtherKind : 0;
  if (one_variable) return kOneVariable + other;
  if (with_before && with_next) {
    // A continues with what is no longer true, or B sees half of what A writes.
    const bool telling = !writes(before->event.kind) || (reads_before && reads_next);
    return kSeveralVariables + (telling ? kTelling : 0) + (before->racy ? kRacy : 0) + other;
  }
  if (with_before) return (writes(before->event.kind) ? kHalfDone : kStaleRead) + other;
  if (with_next && reorders) return kOrder + other;
  return synchronises ? kSynchronisation : 0;
}

// Steps of A worth stopping at: of those between two accesses to data only the one with the fewest
// locks held, and each at which a lock is taken while another is held.
std::vector<std::size_t> TargetSearch::Analysis::stops(const Thread& a) {
  std::vector<std::size_t> stops;
  std::unordered_map<abi::Place, std::uint64_t> last;
  for (const Step& step : a.steps) last[step.event.place] = step.occurrence;
  std::optional<std::size_t> best;
  for (std::size_t at = 0; at < a.steps.size(); ++at) {
    const Step& step = a.steps[at];
    const bool nested = step.event.kind == abi::StepKind::kLock && !step.held.empty();
    const bool seldom =
        step.occurrence <= kOccurrences || step.occurrence == last[step.event.place];
    if (seldom && nested) stops.push_back(at);
    if (seldom && (!best || step.held.size() <= a.steps[*best].held.size())) best = at;
    if (!step.is_data() || !best) continue;
    if (stops.empty() || stops.back() != *best) stops.push_back(*best);
    best.reset();
  }
  if (best) stops.push_back(*best);
  return stops;
}

void TargetSearch::Analysis::targets_of(const Thread& a, TargetSearch& search,
                                        bool lockstep) const {
  std::set<std::uint64_t> kinds;
  for (const Thread& b : threads_) kinds.insert(b.kind);
  for (const std::uint64_t kind : kinds) {
    const Thread* b = partner(a, kind);
    if (b == nullptr) continue;
    for (const std::size_t at : stops(a)) {
      const Step& q = a.steps[at];
      int points = score(a, at, *b);
      if (points == 0) continue;
      const std::uint64_t times = std::min(q.occurrence, kOccurrences + 1);
      points -= kLater * static_cast<int>(times - 1);
      const std::uint64_t identity = mix(mix(mix(a.kind, kind), q.event.place), times);
      // With A alone up to its stop, so that B has everything before it; or, if A needs others to
      // get there, in the course of things in which it was seen. Later the other way round.
      const bool alone = at <= a.alone_until;
      PlanDirective stop{a.key, PlanStop::kBefore, q.event.place, q.occurrence,
                         kPlanWatch | kPlanHold};
      const PlanDirective partner_runs{b->key, PlanStop::kEnd, 0, 1, kPlanInsist};
      const PlanDirective goes_on{a.key, PlanStop::kEnd, 0, 1, 0};
      search.add(identity, points - (alone ? kOtherWay : 0), {stop, partner_runs, goes_on}, 1,
                 lockstep);
      stop.flags = kPlanInsist | kPlanHold;
      search.add(mix(identity, 0xa10e), points - (alone ? 0 : kOtherWay),
                 {stop, partner_runs, goes_on}, 1, false);
    }
  }
}

// All threads of one kind stop before the same step, so that each has done what comes before.
void TargetSearch::Analysis::all_stop(TargetSearch& search) const {
  std::map<std::uint64_t, std::vector<const Thread*>> of_kind;
  for (const Thread& thread : threads_) of_kind[thread.kind].push_back(&thread);
  for (const auto& [kind, threads] : of_kind) {
    if (threads.size() < 2) continue;
    for (const Step& q : threads.front()->steps) {
      if (q.occurrence > 1) continue;
      const bool nested = q.event.kind == abi::StepKind::kLock && !q.held.empty();
      // A lock that all of them need is not held by all of them at once.
      if (!nested && !q.held.empty()) continue;
      std::vector<PlanDirective> directives;
      for (const Thread* thread : threads)
        directives.push_back(
            {thread->key, PlanStop::kBefore, q.event.place, 1, kPlanInsist | kPlanHold});
      const std::size_t stops = directives.size();
      search.add(mix(mix(kind, q.event.place), 0xa11), nested ? kCycle : kAllStop,
                 std::move(directives), stops, false);
    }
  }
}

// Three or more threads of different kinds, each of which holds what the one before it wants: all of them stop
// before they take the second lock. (Two are a pair like any other; of one kind: all_stop().)
void TargetSearch::Analysis::cycles(TargetSearch& search) const {
  struct Link {
    std::size_t thread;
    const Step* wants;
  };
  std::vector<Link> nested;
  for (std::size_t i = 0; i < threads_.size(); ++i)
    for (const Step& step : threads_[i].steps)
      if (step.event.kind == abi::StepKind::kLock && step.occurrence == 1 && !step.held.empty() &&
          !contains(step.held, step.event.object))
        nested.push_back({i, &step});
  std::vector<Link> chain;
  std::size_t found = 0;
  std::size_t looked = 0;
  const auto extend = [&](const auto& self, std::size_t first) -> void {
    const Step& last = *chain.back().wants;
    for (std::size_t i = first + 1; i < nested.size() && found < kMostCycles; ++i) {
      if (++looked > kMostLinks) return;
      const Step& next = *nested[i].wants;
      const bool fits =
          contains(next.held, last.event.object) &&
          std::ranges::all_of(chain, [&](const Link& link) {
            return link.thread != nested[i].thread && disjoint(link.wants->held, next.held);
          });
      if (!fits) continue;
      chain.push_back(nested[i]);
      if (chain.size() > 2 && contains(chain.front().wants->held, next.event.object)) {
        ++found;
        std::vector<PlanDirective> directives;
        std::uint64_t identity = 0xc7c1e;
        for (const Link& link : chain) {
          directives.push_back({threads_[link.thread].key, PlanStop::kBefore,
                                link.wants->event.place, 1, kPlanInsist | kPlanHold});
          identity += mix(threads_[link.thread].kind, link.wants->event.place);
        }
        search.add(identity, kCycle, std::move(directives), chain.size(), false);
      } else if (chain.size() < kLongestCycle) {
        self(self, first);
      }
      chain.pop_back();
    }
  };
  for (std::size_t i = 0; i < nested.size() && found < kMostCycles; ++i) {
    chain = {nested[i]};
    extend(extend, i);
  }
}

// The last thread first: for programs that rely on the order in which threads were created.
void TargetSearch::Analysis::reversed(TargetSearch& search) const {
  std::vector<PlanDirective> directives;
  std::uint64_t identity = 0x4e7;
  for (auto thread = threads_.rbegin(); thread != threads_.rend(); ++thread) {
    if (thread->key == abi::kMainThreadKey) continue;
    directives.push_back({thread->key, PlanStop::kEnd, 0, 1, kPlanInsist});
    identity = mix(identity, thread->kind);
  }
  if (directives.size() > 1) search.add(identity, kReversed, std::move(directives), 0, false);
}

void TargetSearch::Analysis::find_targets(TargetSearch& search, bool lockstep) const {
  std::set<std::uint64_t> kinds;
  for (const Thread& a : threads_)
    if (kinds.insert(a.kind).second) targets_of(a, search, lockstep);
  all_stop(search);
  cycles(search);
  reversed(search);
}

TargetSearch::TargetSearch(std::uint64_t seed, Opening opening)
    : random_(job_seed(seed, 0x7a26e7)), opening_(opening) {}

void TargetSearch::add(std::uint64_t identity, int score, std::vector<PlanDirective> directives,
                       std::size_t hold_end, bool lockstep) {
  if (targets_.size() >= kMostTargets || !known_targets_.insert(identity).second) return;
  targets_.push_back({score, random_.next(), std::move(directives), hold_end, lockstep});
}

void TargetSearch::learn(const JobPlan& plan, const JobReport& report) {
  if (report.trace.steps.empty()) return;
  const Analysis analysis(report.trace.steps, kinds_);
  bool is_new = false;
  for (const Thread& thread : analysis.threads())
    for (const Step& step : thread.steps)
      is_new |= known_steps_.insert(mix(thread.kind, step.event.place)).second;
  if (!is_new) return;
  analysis.find_targets(*this, plan.strategy == abi::StrategyKind::kRoundRobin);
  std::sort(targets_.begin() + static_cast<std::ptrdiff_t>(tried_), targets_.end(),
            [](const Target& a, const Target& b) {
              return std::pair(-a.score, a.tie) < std::pair(-b.score, b.tie);
            });
}

JobPlan TargetSearch::plan_of(std::span<const PlanDirective> directives, bool lockstep) {
  JobPlan plan;
  plan.strategy = abi::StrategyKind::kPlan;
  plan.flags = abi::kJobTrace;
  plan.seed = random_.next();
  plan.parameters[abi::kPlanLongestHold] = kLongestHold;
  plan.parameters[abi::kPlanLockstep] = lockstep ? 1 : 0;
  plan.guide = plan_guide(directives);
  const std::uint64_t coins = random_.below(8);
  if (ends_early_ && (coins & 5) != 0) plan.parameters[abi::kPlanLinger] = kLongestHold;
  if (has_questions_ && (coins & 2) != 0) plan.parameters[abi::kChoiceSeed] = random_.next() | 1;
  return plan;
}

// Two targets at a time, the better ones more often: both stop where they are to, then both
// partners run, then both go on.
JobPlan TargetSearch::combine() {
  const auto draw = [&]() -> const Target& {
    const std::size_t a = random_.below(targets_.size());
    const std::size_t b = random_.below(targets_.size());
    return targets_[a].score > targets_[b].score ? targets_[a] : targets_[b];
  };
  const Target& first = draw();
  const Target& second = draw();
  std::vector<PlanDirective> directives;
  const auto append = [&](const Target& target, bool stops) {
    const auto middle = target.directives.begin() + static_cast<std::ptrdiff_t>(target.hold_end);
    directives.insert(directives.end(), stops ? target.directives.begin() : middle,
                      stops ? middle : target.directives.end());
  };
  append(first, true);
  append(second, true);
  append(second, false);
  append(first, false);
  // Now and then a hold ends after some steps, not when the other can go no further.
  JobPlan plan = plan_of(directives, first.lockstep);
  if (random_.below(2) == 0) plan.parameters[abi::kPlanLongestHold] = 1 + random_.below(64);
  return plan;
}

std::vector<JobPlan> TargetSearch::next(std::size_t most) {
  std::vector<JobPlan> plans;
  if (most > 0 && std::exchange(opening_, Opening::kGiven) == Opening::kLockstep) {
    JobPlan lockstep;
    lockstep.strategy = abi::StrategyKind::kRoundRobin;
    lockstep.flags = abi::kJobTrace | abi::kJobAllPoints;
    // Otherwise nothing is seen of threads that nobody joins.
    lockstep.parameters[abi::kPlanLinger] = kLongestHold;
    plans.push_back(std::move(lockstep));
    return plans;
  }
  if (targets_.empty()) return plans;
  while (plans.size() < most) {
    if (tried_ < targets_.size()) {
      const Target& target = targets_[tried_++];
      plans.push_back(plan_of(target.directives, target.lockstep));
    } else {
      plans.push_back(combine());
    }
  }
  return plans;
}

}  // namespace clew
