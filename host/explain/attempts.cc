#include "host/explain/attempts.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string_view>

#include "host/explain/sync_calls.h"

namespace clew {
namespace {

Instance end_of(const RunTrace& run, StepIndex step) {
  return {step, run.steps()[step].executed - 1u};
}

bool has_failed(const OutsideCall& call) {
  return call.back != kNoStep && (call.result & UINT32_MAX) != 0;
}

bool is_try(std::string_view name) { return name.starts_with("pthread_") && name.contains("try"); }

bool is_condition_wait(const OutsideCall& call) {
  const SyncCall what = sync_call(call);
  return what.kind == SyncKind::kCondition && what.step == SyncStep::kWaits;
}

// The compare-exchange that the hook was called for.
Instance exchange_behind(const RunTrace& run, const OutsideCall& hook) {
  constexpr std::size_t kMostSteps = 6;  // the hook's block, and what changes the expected value
  if (hook.back == kNoStep) return {};
  const auto& list = run.thread(run.steps()[hook.step].thread);
  const std::size_t from = run.position(hook.back);
  for (std::size_t i = from; i < std::min(list.size(), from + kMostSteps); ++i) {
    const auto& accesses = run.block_of(list[i]).accesses;
    for (std::uint32_t k = 0; k < accesses.size(); ++k)
      if (accesses[k].kind == AccessKind::kUpdate &&
          accesses[k].instruction < run.steps()[list[i]].executed &&
          run.access_address(list[i], k) == hook.registers.arguments[1])
        return {list[i], accesses[k].instruction};
  }
  return {};
}

// Whether a question of the kind can arise in the call.
bool asks(CodeMap& code, const OutsideCall& call, abi::ChoiceKind kind) {
  switch (kind) {
    case abi::ChoiceKind::kSpurious:
      return is_condition_wait(call);
    case abi::ChoiceKind::kTrylock:
      return is_try(call.name) && has_failed(call);
    case abi::ChoiceKind::kTimeout:
      return timed_out(call) || may_have_timed_out(call);
    case abi::ChoiceKind::kCas:
      return point_kind(code, call) == abi::PointKind::kAtomicCas;
    default:
      return false;
  }
}

OutcomeKind outcome_of(abi::ChoiceKind kind) {
  switch (kind) {
    case abi::ChoiceKind::kSpurious:
      return OutcomeKind::kWakeUp;
    case abi::ChoiceKind::kCas:
      return OutcomeKind::kExchange;
    case abi::ChoiceKind::kTimeout:
      return OutcomeKind::kTimeOut;
    default:
      return OutcomeKind::kTry;
  }
}

// The call that the answer belongs to: questions arise between the event of a call and the next one, those of compare-exchanges with their
// own. A thread that was interrupted before its call has its event later.
const OutsideCall* asked_in(CodeMap& code, const RunTrace& run, const Choice& choice) {
  const std::uint64_t clock = choice.clock.value;
  const std::uint64_t event = choice.kind == abi::ChoiceKind::kCas ? clock : clock - 1;
  const OutsideCall* found = nullptr;
  std::size_t possible = 0;
  for (const OutsideCall& call : run.outside_calls()) {
    const std::uint64_t called = run.clock(call.step);
    if (called >= event) break;
    if ((call.back != kNoStep && run.clock(call.back) < event) || !asks(code, call, choice.kind))
      continue;
    // Waits take longer than that.
    const bool at_once =
        choice.kind == abi::ChoiceKind::kCas || choice.kind == abi::ChoiceKind::kTrylock;
    if (called + 1 == event || (at_once && call.back != kNoStep && run.clock(call.back) == event))
      return &call;
    ++possible;
    found = &call;
  }
  return possible == 1 ? found : nullptr;  // of several it is not known which
}

std::optional<Attempt> attempt_of(CodeMap& code, const RunTrace& run, const Choice& choice,
                                  std::size_t number) {
  if (choice.kind == abi::ChoiceKind::kPick || choice.kind == abi::ChoiceKind::kWake) return {};
  const OutsideCall* call = asked_in(code, run, choice);
  if (call == nullptr) return std::nullopt;
  Attempt made{outcome_of(choice.kind), end_of(run, call->step), call->registers.arguments[0],
               number};
  if (made.kind == OutcomeKind::kExchange) {
    made.at = exchange_behind(run, *call);
    made.object = call->registers.arguments[1];
    if (!made.at.valid()) return std::nullopt;
  }
  return made;
}

// The pass's own counting, which chains all that a thread does.
bool is_of_points(const RunTrace& run, Instance at) {
  const auto [first, end] = run.accesses(at);
  for (std::uint32_t i = first; i < end; ++i)
    if (run.is_of_points(run.access_address(at.step, i))) return true;
  return false;
}

// Where the instance reads what the other has written; 0: not known.
std::uint64_t loaded_from(TracedPair& pair, Instance at, Instance from) {
  const auto [first, end] = pair.trace(kFailing).accesses(at);
  for (std::uint32_t i = first; i < end; ++i)
    if (pair.run(kFailing).source(at.step, i) == from)
      return pair.trace(kFailing).access_address(at.step, i);
  return 0;
}

// Of a later try, back to this one: whether it depends on what came of that.
bool follows_from(TracedPair& pair, Instance later, Instance earlier) {
  constexpr std::size_t kMostNodes = 5'000;
  const RunTrace& run = pair.trace(kFailing);
  const std::uint16_t thread = run.steps()[earlier.step].thread;
  const bool is_exchange = !run.instruction(earlier).is_call();
  std::set<Instance> seen{later};
  // A variable that is counted up leads to all that was counted: of each memory one write is followed.
  std::set<std::uint64_t> memory;
  std::deque<Instance> todo{later};
  while (!todo.empty() && seen.size() < kMostNodes) {
    const Instance at = todo.front();
    todo.pop_front();
    for (const Dependence& one : pair.run(kFailing).of(at)) {
      const bool loads = one.kind == DependenceKind::kMemory;
      // A compare-exchange that fails counts as a write of the memory, which it leaves as it is.
      if (one.on == earlier && loads && is_exchange) continue;
      if (one.on == earlier) return true;
      if (!one.on.valid() || one.on.step >= RunTrace::kFromOutside || one.on < earlier ||
          run.steps()[one.on.step].thread != thread || is_of_points(run, one.on))
        continue;
      if (loads && !memory.insert(loaded_from(pair, at, one.on)).second) continue;
      if (seen.insert(one.on).second) todo.push_back(one.on);
    }
  }
  return false;
}

bool is_about(const RunTrace& run, Instance at, std::uint64_t object) {
  if (const OutsideCall* call = run.instruction(at).is_call() ? run.outside_call(at.step) : nullptr)
    return call->registers.arguments[0] == object;
  const auto [first, end] = run.accesses(at);
  for (std::uint32_t i = first; i < end; ++i)
    if (run.access_address(at.step, i) == object) return true;
  return false;
}

}  // namespace

std::vector<Attempt> failed_attempts(TracedPair& pair, WhichRun side, const Schedule& schedule) {
  const RunTrace& run = pair.trace(side);
  std::vector<Attempt> found;
  for (std::size_t i = 0; i < schedule.choices.size(); ++i)
    if (const auto made = attempt_of(pair.code(), run, schedule.choices[i], i))
      found.push_back(*made);
  for (const OutsideCall& call : run.outside_calls()) {
    const bool tries = is_try(call.name) && has_failed(call);
    const Instance at = end_of(run, call.step);
    if ((!tries && !timed_out(run, call)) ||
        std::ranges::find(found, at, &Attempt::at) != found.end())
      continue;
    found.push_back({tries ? OutcomeKind::kTry : OutcomeKind::kTimeOut, at,
                     call.registers.arguments[0], std::nullopt});
  }
  std::ranges::sort(found, {}, &Attempt::at);
  return found;
}

bool is_repeated(TracedPair& pair, const Attempt& attempt, SucceedsInPassing succeeds) {
  constexpr std::size_t kMostTries = 3;
  const RunTrace& run = pair.trace(kFailing);
  const std::uint64_t code = run.instruction(attempt.at).address;
  const auto& list = run.thread(run.steps()[attempt.at.step].thread);
  std::size_t tries = 0;
  for (std::size_t i = run.position(attempt.at.step) + 1u; i < list.size(); ++i)
    for (std::uint32_t k = 0; k < run.steps()[list[i]].executed; ++k) {
      const Instance at{list[i], k};
      if (run.instruction(at).address != code || !is_about(run, at, attempt.object)) continue;
      // What the passing run tries as well, which has got what it asked for, is no repetition.
      const bool tried_anyway =
          succeeds == SucceedsInPassing::kYes && pair.alignment().counterpart(kFailing, at).valid();
      if (!tried_anyway && follows_from(pair, at, attempt.at)) return true;
      if (++tries == kMostTries) return false;
    }
  return false;
}

Instance holder_of(const RunTrace& run, std::uint64_t lock, StepIndex step) {
  std::map<std::uint16_t, Instance> taken;
  for (const OutsideCall& call : run.outside_calls()) {
    if (call.step >= step) break;
    const SyncCall what = sync_call(call);
    if (what.kind != SyncKind::kLock || what.object != lock || call.back == kNoStep) continue;
    const std::uint16_t thread = run.steps()[call.step].thread;
    if (what.step == SyncStep::kReleases)
      taken.erase(thread);
    else if (call.back <= step)
      taken[thread] = end_of(run, call.step);
  }
  return taken.empty() ? Instance{} : taken.begin()->second;
}

}  // namespace clew
