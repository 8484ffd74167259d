#include "host/explain/proof.h"

#include <algorithm>
#include <set>
#include <utility>

#include "host/explain/cause_event.h"
#include "host/explain/experiments.h"
#include "host/explain/hand_over.h"
#include "host/explain/lock_cycle.h"
#include "host/explain/other_order.h"
#include "host/explain/told_outcome.h"
#include "host/explain/told_turn.h"

namespace clew {
namespace {

// Whether the thread is one of those whose accesses are the cause.
bool is_party(const Cause& cause, const std::string& thread) {
  for (const auto* event : {&cause.failing_source, &cause.passing_source, &cause.earlier,
                            &cause.remote, &cause.later, &cause.freed})
    if (*event && (*event)->thread == thread) return true;
  return cause.use.thread == thread;
}

bool is_update(const RunTrace& run, const StaleRead& stale) {
  return run.access(stale.read.step, stale.access).kind == AccessKind::kUpdate;
}

// Whether one of those whose accesses are the cause has written another value since.
bool may_matter(TracedPair& pair, const StaleRead& stale, const Cause& cause) {
  const RunTrace& run = pair.trace(kFailing);
  return (is_update(run, stale) || run.access_value(stale.write.step, stale.write_access) !=
                                       run.access_value(stale.read.step, stale.access)) &&
         is_party(cause, party_name(pair, kFailing, stale.write.step));
}

// Whether the run passes if the thread reads what another has written since. What it has updated by then is not there to be put in: the
// other must come first.
bool matters(Laboratory& laboratory, const Replay& failing, const StaleRead& stale) {
  const RunTrace& run = laboratory.pair().trace(kFailing);
  if (is_update(run, stale))
    return verdict_with_later_first(laboratory, failing, stale.read, stale.write) == Verdict::kPass;
  return passes_with(laboratory, stale.read, stale.access,
                     run.access_value(stale.write.step, stale.write_access));
}

// Whether both tell the same accesses, one between two.
bool is_same_split(const Cause& a, const Cause& b) {
  const auto same = [](const std::optional<CauseEvent>& one,
                       const std::optional<CauseEvent>& other) {
    return one && other && one->thread == other->thread && one->clock == other->clock &&
           one->at.line == other->at.line && one->at.file == other->at.file;
  };
  return a.pattern == CausePattern::kBetween && b.pattern == CausePattern::kBetween &&
         same(a.earlier, b.earlier) && same(a.remote, b.remote) && same(a.later, b.later);
}

// What has led to where it goes wrong, and was changed by another in between: with the new value put in, the run
// must pass. Who goes wrong may have gone by it, or else who has written what that one reads, or freed it. A check that its
// thread acts upon by writing the same variable is the cause itself; other checks are told beside it.
void find_check(Laboratory& laboratory, Naming& naming, const Replay& failing, const Root& root,
                Explanation& result) {
  constexpr std::size_t kMostTests = 10;
  TracedPair& pair = laboratory.pair();
  // Whose wait has timed out did not go by what it read.
  if (root.use_failing == kNoNode || root.address == 0 || result.cause.timed_out) return;
  const RunTrace& run = pair.trace(kFailing);
  const Instance use = instance_of(root.use_failing);
  std::vector<Instance> misled{use};
  if (!is_unseen(root.from_failing)) {
    const Instance write = instance_of(root.from_failing);
    if (run.steps()[write.step].thread != run.steps()[use.step].thread) misled.push_back(write);
  }
  if (root.freed.valid()) misled.push_back(root.freed);
  // Of what a loop reads and another writes in a loop, the nearest stands for all.
  std::set<std::pair<std::uint64_t, std::uint64_t>> known;
  const auto is_new = [&](const StaleRead& stale) {
    return known.emplace(run.instruction(stale.read).address, run.instruction(stale.write).address)
        .second;
  };
  std::vector<StaleRead> others;
  std::size_t tests = 0;
  for (const Instance at : misled)
    for (const StaleRead& stale : stale_reads(pair, at, at.step, StaleReach::kAll)) {
      if (!may_matter(pair, stale, result.cause) || looks_again(pair, stale, at) || !is_new(stale))
        continue;
      auto deeper =
          is_update(run, stale) ? std::nullopt : check_then_act(pair, naming, stale, at.step);
      if (!deeper) {
        if (run.access_address(stale.read.step, stale.access) != root.address)
          others.push_back(stale);
        continue;
      }
      if (tests++ >= kMostTests || !matters(laboratory, failing, stale)) continue;
      deeper->check->tested = true;
      // The cause may be that check already, and then has more to tell.
      if (is_same_split(result.cause, *deeper))
        result.cause.check = std::move(deeper->check);
      else
        result.leads_to = std::exchange(result.cause, *std::move(deeper));
      return;
    }
  if (others.size() > kMostTests) others.resize(kMostTests);
  for (const StaleRead& stale : others) {
    if (!matters(laboratory, failing, stale)) continue;
    result.cause.check = check_of(pair, naming, stale);
    result.cause.check->tested = true;
    return;
  }
}

// If the failing run still fails with the cause put right, there is another one that suffices, too: those that
// are needed, all put right, for it to pass. Returns where they are put right.
std::vector<Lever> find_joint(Laboratory& laboratory, const ToldCause& told, Explanation& result) {
  constexpr std::size_t kMostCauses = 6;
  const RunsView runs = view_of(laboratory.pair());
  std::vector<Lever> levers;
  std::vector<const Cause*> causes;
  const auto add = [&](const Cause& cause, const Root& root) {
    if (root.address == 0 || root.use_failing == kNoNode || root.use_passing == kNoNode) return;
    const auto lever = lever_of_read(runs, instance_of(root.use_failing),
                                     instance_of(root.use_passing), root.address);
    if (!lever || levers.size() == kMostCauses) return;
    levers.push_back(*lever);
    causes.push_back(&cause);
  };
  add(told.cause, told.root);
  if (levers.empty()) return {};
  for (const auto& [cause, root] : told.others) add(cause, root);
  if (levers.size() < 2) return {};
  const auto needed = joint_causes(laboratory, levers);
  // What is told must be one of them, if not by this read then by another of the same variable.
  const auto of_told = [&](std::size_t i) { return causes[i]->variable == told.cause.variable; };
  if (needed.size() < 2 || std::ranges::none_of(needed, of_told)) return {};
  std::vector<Lever> others;
  for (const std::size_t i : needed) {
    if (of_told(i)) continue;
    others.push_back(levers[i]);
    const Cause* best = causes[i];
    for (const auto& [cause, root] : told.others)
      if (cause.variable == best->variable && worth_of(cause) > worth_of(*best)) best = &cause;
    if (worth_of(*best) > 0 &&
        std::ranges::find(result.also, best->variable, &Cause::variable) == result.also.end())
      result.also.push_back(*best);
  }
  return others;
}

// What comes between two accesses, and may come neither before both of them: then it comes too early, or too late.
void test_between(Laboratory& laboratory, const Replay& failing, const Root& root, Cause& cause) {
  if (cause.pattern != CausePattern::kBetween || cause.kind != CauseKind::kAtomicityViolation ||
      !root.remote.valid() || cause.freed || cause.remote->what != CauseEvent::What::kReads)
    return;
  const auto before = verdict_with_later_first(laboratory, failing, root.earlier, root.remote);
  const auto behind = verdict_with_later_first(laboratory, failing, root.remote, root.later);
  cause.tested_outside = before == Verdict::kPass && behind == Verdict::kPass;
  const bool too_early = before == Verdict::kFail && behind == Verdict::kPass;
  const bool too_late = before == Verdict::kPass && behind == Verdict::kFail;
  if (!too_early && !too_late) return;
  // Of the other's thread: the use is the remote access, or what has made that too early or too late.
  const bool remote_uses = cause.use.thread == cause.remote->thread;
  const std::string& other = remote_uses ? cause.earlier->thread : cause.remote->thread;
  const bool missed = too_early == remote_uses;
  const auto& source = missed ? cause.passing_source : cause.failing_source;
  if (!source || source->thread != other) return;
  cause.pattern = missed ? CausePattern::kTooEarly : CausePattern::kOverwritten;
  cause.kind = CauseKind::kOrderViolation;
  cause.earlier.reset();
  cause.remote.reset();
  cause.later.reset();
  cause.released.reset();
}

}  // namespace

void experiment(TracedPair& pair, Naming& naming, const Replay& failing, const Replay& passing,
                const ExperimentLimits& limits, ToldCause& told, Explanation& result) {
  Laboratory laboratory(pair, failing, passing, limits);
  const bool enough = test_steps(laboratory, told.steps);
  std::vector<Lever> others;
  if (!enough && laboratory.may_go_on()) others = find_joint(laboratory, told, result);
  test_jointly(laboratory, others, told.steps);
  const auto first =
      std::ranges::find_if(told.steps, [](const ToldStep& one) { return one.step.main; });
  if (first != told.steps.end() && passes_in_other_order(laboratory, failing, told.root))
    first->step.confirmed = Confirmed::kByOrder;
  test_between(laboratory, failing, told.root, result.cause);
  if (!result.leads_to) find_split(laboratory, naming, failing, told.root, result);
  if (!result.leads_to) find_check(laboratory, naming, failing, told.root, result);
  find_flag(laboratory, naming, failing, told.root, result.cause);
  // A time-out that is told says which access came too early for it.
  if (!result.cause.timed_out)
    if (auto outcome = find_outcome(laboratory, naming, failing, passing, told.led)) {
      // That a call gives another result says no more.
      if (!result.leads_to && result.cause.pattern != CausePattern::kResult)
        result.leads_to = std::move(result.cause);
      result.cause = std::move(outcome->cause);
    }
  result.tests = laboratory.tests();
  result.tests_complete = laboratory.may_go_on();
  result.tests_interrupted_by = laboratory.interrupted_by();
}

ToldCause find_by_order(TracedPair& pair, Naming& naming, const Replay& failing,
                        const Replay& passing, const ExperimentLimits& limits,
                        const PathNode& failure, Explanation& result) {
  constexpr std::size_t kMostTests = 8;
  Laboratory laboratory(pair, failing, passing, limits);
  ToldCause told;
  int best = 0;
  std::size_t tests = 0;
  for (Root& root : roots_anywhere(pair, naming)) {
    Cause cause = classify(pair, naming, {}, root);
    if (worth_of(cause) <= best) continue;
    if (tests++ == kMostTests || !laboratory.may_go_on()) break;
    if (!passes_in_other_order(laboratory, failing, root)) continue;
    best = worth_of(cause);
    told = {std::move(cause),
            root,
            {},
            tell(pair, naming, {{kFailing, root.use_failing}, failure}),
            {},
            {}};
  }
  if (!told.steps.empty()) told.steps.front().step.confirmed = Confirmed::kByOrder;
  result.tests = laboratory.tests();
  result.tests_complete = laboratory.may_go_on();
  result.tests_interrupted_by = laboratory.interrupted_by();
  return told;
}

ToldCause find_by_outcome(TracedPair& pair, Naming& naming, const Replay& failing,
                          const Replay& passing, const ExperimentLimits& limits,
                          const PathNode& failure, const std::vector<NodeId>& led,
                          Explanation& result) {
  Laboratory laboratory(pair, failing, passing, limits);
  ToldCause told;
  if (auto outcome = find_outcome(laboratory, naming, failing, passing, led)) {
    told.cause = std::move(outcome->cause);
    told.steps = tell(pair, naming, {{kFailing, node_of(outcome->at)}, failure});
  }
  result.tests = laboratory.tests();
  result.tests_complete = laboratory.may_go_on();
  result.tests_interrupted_by = laboratory.interrupted_by();
  return told;
}

void test_waiting(TracedPair& pair, Naming& naming, const Replay& failing, const Replay& passing,
                  const ExperimentLimits& limits, Explanation& result) {
  Laboratory laboratory(pair, failing, passing, limits);
  if (auto outcome = find_outcome(laboratory, naming, failing, passing, {})) {
    outcome->cause.waits = std::move(result.cause.waits);
    if (result.behind)
      result.leads_to = std::exchange(result.behind, std::nullopt);
    else if (result.cause.pattern != CausePattern::kWaitsForever)
      result.leads_to = std::move(result.cause);
    result.cause = std::move(outcome->cause);
    add_roots(result.root, result.cause);
  }
  result.tests = laboratory.tests();
  result.tests_complete = laboratory.may_go_on();
  result.tests_interrupted_by = laboratory.interrupted_by();
}

void test_locks(TracedPair& pair, const Replay& failing, const Replay& passing,
                const ExperimentLimits& limits, Explanation& result) {
  Laboratory laboratory(pair, failing, passing, limits);
  if (const auto clock = passes_if_taken_in_turn(laboratory, failing))
    for (StoryStep& step : result.story)
      if (step.sync == SyncEvent::kTaken && step.clock == *clock)
        step.confirmed = Confirmed::kByOrder;
  result.tests = laboratory.tests();
  result.tests_complete = laboratory.may_go_on();
  result.tests_interrupted_by = laboratory.interrupted_by();
}

}  // namespace clew
