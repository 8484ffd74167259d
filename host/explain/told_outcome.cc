#include "host/explain/told_outcome.h"

#include <algorithm>
#include <utility>

#include "host/explain/attempts.h"
#include "host/explain/cause_event.h"
#include "host/explain/other_order.h"
#include "host/explain/sync_calls.h"
#include "host/explain/wait_checks.h"
#include "host/schedule/stream.h"

namespace clew {
namespace {

class Finder {
 public:
  Finder(Laboratory& laboratory, Naming& naming, const Replay& failing,
         const std::vector<NodeId>& led)
      : laboratory_(laboratory),
        pair_(laboratory.pair()),
        naming_(naming),
        failing_(failing),
        led_(led),
        run_(pair_.trace(kFailing)) {}

  std::optional<ToldOutcome> find(const Schedule& schedule, const Schedule& passing) {
    there_ = failed_attempts(pair_, kPassing, passing);
    for (const Attempt& attempt : failed_attempts(pair_, kFailing, schedule)) {
      if (!laboratory_.may_go_on() || tests_ >= kMostTests) break;
      if (auto told = look_at(attempt, schedule)) return told;
    }
    for (const StaleWakeUp& one : stale_wake_ups(pair_)) {
      if (!laboratory_.may_go_on() || tests_ >= kMostTests) break;
      if (auto told = look_at(one)) return told;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMostTests = 12;  // each is a run

  CauseEvent event(Instance at, std::uint64_t address = 0, std::uint32_t size = 0) {
    return event_of(pair_, naming_, kFailing, at, address, size);
  }

  bool leads(Instance at) const { return std::ranges::binary_search(led_, node_of(at)); }

  std::optional<ToldOutcome> look_at(const Attempt& attempt, const Schedule& schedule) {
    std::vector<CheckedRead> checked;
    if (attempt.kind == OutcomeKind::kWakeUp) {
      const auto groups = checked_reads(pair_, attempt.at);
      const auto forgotten = std::ranges::find_if(
          groups, [&](const auto& one) { return !looks_again(pair_, attempt.at, one); });
      if (groups.empty() ? looks_again(pair_, attempt.at, {}) : forgotten == groups.end())
        return std::nullopt;
      if (!groups.empty()) checked = *forgotten;
    } else if (is_repeated(pair_, attempt,
                           in_passing(attempt) == CallOutcome::There::kOther
                               ? SucceedsInPassing::kYes
                               : SucceedsInPassing::kNo)) {
      return std::nullopt;
    }
    const Instance holder = holder_of(run_, attempt.object, attempt.at.step);
    // A wait with a limit is there to end by it: only what came of that can be the cause.
    if (attempt.kind == OutcomeKind::kTimeOut && !leads(attempt.at)) return std::nullopt;
    const auto tested = test(attempt, schedule, holder);
    if (!tested) return std::nullopt;
    ToldOutcome told{cause_of(attempt), attempt.at};
    told.cause.outcome->tested = *tested;
    if (!checked.empty()) tell_looked(told.cause, checked.front());
    if (attempt.kind == OutcomeKind::kTry && !attempt.choice)
      told.cause.outcome->holder = event(holder);
    return told;
  }

  using Tested = CallOutcome::Tested;

  // By a schedule alone: with the usual answer, with the other's release before the attempt, or with the attempt before the other takes
  // the lock. Nothing: it is not told.
  std::optional<Tested> test(const Attempt& attempt, const Schedule& schedule, Instance holder) {
    ++tests_;
    if (attempt.choice) {
      Schedule without = schedule;
      without.choices.erase(without.choices.begin() + static_cast<std::ptrdiff_t>(*attempt.choice));
      const auto ran = laboratory_.run({kFailing, {}, false, std::move(without)});
      return ran && ran->verdict == Verdict::kPass ? std::optional(Tested::kWithout) : std::nullopt;
    }
    if (attempt.kind != OutcomeKind::kTry || !holder.valid() ||
        run_.steps()[holder.step].thread == run_.steps()[attempt.at.step].thread)
      return std::nullopt;
    const Instance release = release_behind(holder, attempt.object);
    if (release.valid() &&
        verdict_with_later_first(laboratory_, failing_, attempt.at, release) == Verdict::kPass)
      return Tested::kRelease;
    ++tests_;
    if (verdict_with_later_first(laboratory_, failing_, holder, attempt.at) == Verdict::kPass)
      return Tested::kOrder;
    // Another attempt may fail in its place. What leads to the failure, and succeeds in the passing run, is told untested.
    if (leads(attempt.at) && in_passing(attempt) == CallOutcome::There::kOther) return Tested::kNot;
    return std::nullopt;
  }

  CallOutcome::There in_passing(const Attempt& attempt) const {
    const Instance there = pair_.alignment().counterpart(kFailing, attempt.at);
    if (!there.valid()) return CallOutcome::There::kNotSeen;
    return std::ranges::find(there_, there, &Attempt::at) != there_.end()
               ? CallOutcome::There::kSame
               : CallOutcome::There::kOther;
  }

  Instance release_behind(Instance taken, std::uint64_t lock) const {
    const std::uint16_t thread = run_.steps()[taken.step].thread;
    for (const OutsideCall& call : run_.outside_calls()) {
      if (call.step <= taken.step || run_.steps()[call.step].thread != thread) continue;
      const SyncCall what = sync_call(call);
      if (what.kind == SyncKind::kLock && what.step == SyncStep::kReleases && what.object == lock &&
          call.back != kNoStep)
        return {call.back, 0};
    }
    return {};
  }

  Cause cause_of(const Attempt& attempt) {
    Cause cause;
    cause.kind = CauseKind::kChoice;
    cause.pattern = CausePattern::kOutcome;
    cause.use = event(attempt.at);
    CallOutcome& outcome = cause.outcome.emplace();
    outcome.kind = attempt.kind;
    outcome.by_chance = attempt.choice.has_value();
    if (attempt.kind == OutcomeKind::kExchange) {
      if (const auto name = naming_.memory(kFailing, attempt.at, attempt.object, 1))
        outcome.object = name->name;
    } else {
      outcome.object = naming_.sync_object(kFailing, attempt.at, attempt.object);
    }
    cause.variable = outcome.object;
    outcome.in_passing = in_passing(attempt);
    return cause;
  }

  void tell_looked(Cause& cause, const CheckedRead& one) {
    cause.outcome->looked = event(one.read, one.address, one.size);
    if (const auto name = naming_.memory(kFailing, one.read, one.address, one.size))
      cause.outcome->looked_at = name->name;
  }

  // Before that, and as early as the lock allows that is held there.
  Instance begin_of_section(Instance change) const {
    Instance begin = change;
    const std::uint16_t thread = run_.steps()[change.step].thread;
    for (const OutsideCall& call : run_.outside_calls()) {
      if (call.step >= change.step) break;
      if (run_.steps()[call.step].thread != thread) continue;
      const SyncCall what = sync_call(call);
      if (what.kind != SyncKind::kLock) continue;
      begin = what.step == SyncStep::kTakes
                  ? Instance{call.step, run_.steps()[call.step].executed - 1u}
                  : change;
    }
    return begin;
  }

  // Whether anything leads to the failure that the thread does behind the wait, in the function that waits.
  bool what_follows_leads(const StaleWakeUp& one) const {
    const FrameIndex frame = run_.steps()[one.back].frame;
    const std::uint16_t thread = run_.steps()[one.back].thread;
    StepIndex end = kNoStep;  // of the function
    const auto& list = run_.thread(thread);
    for (std::size_t i = run_.position(one.back); i < list.size(); ++i) {
      FrameIndex at = run_.steps()[list[i]].frame;
      while (at != kNoFrame && at != frame) at = run_.frames()[at].parent;
      if (at == frame) continue;
      end = list[i];
      break;
    }
    for (auto node = std::ranges::lower_bound(led_, node_of({one.back, 0})); node != led_.end();
         ++node) {
      if (is_unseen(*node) || instance_of(*node).step >= end) return false;
      if (run_.steps()[instance_of(*node).step].thread == thread) return true;
    }
    return false;
  }

  std::optional<ToldOutcome> look_at(const StaleWakeUp& one) {
    const OutsideCall* call = run_.outside_call(one.wait.step);
    if (!one.next.valid()) return std::nullopt;
    ++tests_;
    const auto verdict =
        verdict_with_later_first(laboratory_, failing_, begin_of_section(one.change), one.next);
    // Where both were woken and the other had the lock first, no such run can be made: then what the thread does there must lead to it.
    if (verdict ? *verdict != Verdict::kPass : !what_follows_leads(one)) return std::nullopt;
    Cause cause;
    cause.kind = CauseKind::kAtomicityViolation;
    cause.pattern = CausePattern::kOutcome;
    cause.use = event(one.wait);
    CallOutcome& outcome = cause.outcome.emplace();
    outcome.kind = OutcomeKind::kStale;
    outcome.object = naming_.sync_object(kFailing, one.wait, call->registers.arguments[0]);
    outcome.signal = event(one.signal);
    outcome.change = event(one.change, one.checked.address, one.checked.size);
    tell_looked(cause, one.checked);
    outcome.tested = verdict ? CallOutcome::Tested::kOrder : CallOutcome::Tested::kNot;
    cause.variable = outcome.looked_at;
    return ToldOutcome{std::move(cause), one.wait};
  }

  Laboratory& laboratory_;
  TracedPair& pair_;
  Naming& naming_;
  const Replay& failing_;
  const std::vector<NodeId>& led_;
  const RunTrace& run_;
  std::vector<Attempt> there_;  // of the passing run
  std::size_t tests_ = 0;
};

}  // namespace

std::optional<ToldOutcome> find_outcome(Laboratory& laboratory, Naming& naming,
                                        const Replay& failing, const Replay& passing,
                                        const std::vector<NodeId>& led) {
  const auto schedule = to_schedule(failing.plan.follow);
  const auto other = to_schedule(passing.plan.follow);
  if (!schedule || !other) return std::nullopt;
  return Finder(laboratory, naming, failing, led).find(*schedule, *other);
}

}  // namespace clew
