#include <algorithm>

#include "host/explain/activity.h"
#include "host/explain/cause_event.h"
#include "host/explain/classifier.h"
#include "host/explain/hand_over.h"

namespace clew {

bool Classifier::between(Instance use) {
  const MemoryAccess* at = entry(use);
  if (at == nullptr) return false;
  if (is_foreign(kFailing, root_.from_failing, root_.use_failing) && behind_own(*at)) return true;
  return before_own(*at) || inside_others(*at) || inside_another(*at) || between_writers();
}

bool Classifier::entry_is_null(const MemoryAccess& use) const {
  const RecordedAccess& read = run_.access(use.at.step, use.access);
  return read.has_value && read.size == 8 && run_.access_value(use.at.step, use.access) == 0;
}

bool Classifier::nearer_split(const MemoryAccess& own, const MemoryAccess& remote,
                              const MemoryAccess& use) {
  return own.writes && !use.writes && split(remote.at, use.at, own.at);
}

bool Classifier::in_one_round_with_own(const MemoryAccess& use) {
  const MemoryAccess* remote = nullptr;
  for (const MemoryAccess* one = &use; one != history_.data();) {
    --one;
    const bool mine = is_by(*one, party_);
    if (!mine && one->writes && remote == nullptr) remote = one;
    if (mine && remote == nullptr && one->writes) return false;
    if (!mine || remote == nullptr) continue;
    if (!same_activity(one->at, use.at)) return false;
    if (in_one_round(pair_, one->at, use.at))
      return nearer_split(*one, *remote, use) ||
             tell_between(*one, *first_between(*one, *remote), use);
  }
  return false;
}

bool Classifier::belong_together(const MemoryAccess& earlier, const MemoryAccess& later) {
  return in_one_round(pair_, earlier.at, later.at) ||
         (later.writes && same_activity(earlier.at, later.at) &&
          depends_on(pair_, later.at, earlier.at));
}

const MemoryAccess* Classifier::first_between(const MemoryAccess& own,
                                              const MemoryAccess& remote) const {
  const PartyId party = parties_.of(remote.at.step);
  for (const MemoryAccess* one = &own + 1; one != &remote; ++one)
    if (one->writes && !one->frees && is_by(*one, party)) return one;
  return &remote;
}

bool Classifier::behind_own(const MemoryAccess& use) {
  if (in_one_round_with_own(use)) return true;
  // Each round of a loop reads the pointer anew, and nothing belongs together but what uses it.
  if (entry_is_null(use)) return false;
  const MemoryAccess* remote = nullptr;
  for (const MemoryAccess* one = &use; one != history_.data();) {
    --one;
    const bool mine = is_by(*one, party_);
    if (!mine && one->writes && remote == nullptr) remote = one;
    // It may have read it since, to no effect.
    if (!mine || (remote == nullptr && !one->writes)) continue;
    if (remote == nullptr || !belong_together(*one, use)) return false;
    return nearer_split(*one, *remote, use) ||
           tell_between(*one, *first_between(*one, *remote), use);
  }
  return false;
}

bool Classifier::is_omitted() const {
  if (is_unseen(root_.from_passing)) return false;
  const Instance there = instance_of(root_.from_passing);
  return !pair_.alignment().counterpart(kPassing, there).valid() &&
         !pair_.alignment().cut_off(kPassing, there.step);
}

bool Classifier::before_own(const MemoryAccess& use) {
  const MemoryAccess* remote = nullptr;
  const MemoryAccess* end = history_.data() + history_.size();
  for (const MemoryAccess* one = &use + 1; one != end; ++one) {
    const bool mine = is_by(*one, party_);
    if (!mine && one->writes && remote == nullptr) remote = one;
    if (!mine || one->frees || !same_activity(use.at, one->at)) continue;
    const bool matters = one->writes || slice_.half[kFailing].nodes.contains(node_of(one->at)) ||
                         !pair_.alignment().counterpart(kFailing, one->at).valid();
    if (remote == nullptr && one->writes) return false;
    // Two reads of a loop's rounds belong together no more than any others.
    if (!belong_together(use, *one)) continue;
    if (remote != nullptr && matters) return tell_between(use, *remote, *one);
  }
  return false;
}

bool Classifier::inside_others(const MemoryAccess& use) {
  if (is_unseen(root_.from_passing)) return false;
  const Instance missed = pair_.alignment().counterpart(kPassing, instance_of(root_.from_passing));
  const MemoryAccess* later = missed.valid() ? entry(missed) : nullptr;
  if (later == nullptr || later->at < use.at) return false;
  const PartyId owner = parties_.of(missed.step);
  const MemoryAccess* remote = &use;
  for (const MemoryAccess* one = &use; one != later; ++one)
    if (is_by(*one, party_) && one->writes && !one->frees) remote = one;
  for (const MemoryAccess* one = &use; one != history_.data();) {
    --one;
    if (!is_by(*one, owner) || !belong_together(*one, *later)) continue;
    // It has read what it writes by, or it writes in two steps.
    if (!remote->writes && !one->writes) return false;
    // What is new is not yet complete: the reader comes too early.
    if (!remote->writes && is_first_of_new(*one)) return false;
    return tell_between(*one, *remote, *later);
  }
  return false;
}

bool Classifier::should_write(const MemoryAccess& one) {
  if (is_unseen(root_.from_passing)) return false;
  const Instance there = instance_of(root_.from_passing);
  const auto thread = [&](WhichRun side, Instance at) {
    return pair_.run(side).threads()[pair_.trace(side).steps()[at.step].thread];
  };
  return thread(kFailing, one.at) == thread(kPassing, there) &&
         pair_.place(kFailing, one.at) == pair_.place(kPassing, there);
}

bool Classifier::inside_another(const MemoryAccess& use) {
  const MemoryAccess* written = nullptr;
  const MemoryAccess* end = history_.data() + history_.size();
  for (const MemoryAccess* later = &use; later != end; ++later) {
    if (is_by(*later, party_)) {
      if (later->writes && !later->frees) written = later;
      continue;
    }
    if (written == nullptr || later->frees || !(later->writes || should_write(*later))) continue;
    const PartyId owner = parties_.of(later->at.step);
    for (const MemoryAccess* one = &use; one != history_.data();) {
      --one;
      if (!is_by(*one, owner)) continue;
      if (!belong_together(*one, *later)) break;
      return tell_between(*one, *written, *later);
    }
  }
  return false;
}

bool Classifier::between_writers() {
  if (is_unseen(root_.from_failing) || is_unseen(root_.from_passing)) return false;
  const Instance lost = pair_.alignment().counterpart(kPassing, instance_of(root_.from_passing));
  const MemoryAccess* remote = lost.valid() ? entry(lost) : nullptr;
  const MemoryAccess* last = entry(instance_of(root_.from_failing));
  if (remote == nullptr || last == nullptr || last->at < remote->at) return false;
  const PartyId owner = parties_.of(last->at.step);
  if (is_by(*remote, owner) || is_by(*remote, party_)) return false;
  const MemoryAccess* later = remote;  // what it is lost by: what comes then builds on that
  while (later != last && !(is_by(*later, owner) && later->writes)) ++later;
  if (later->frees) return false;
  for (const MemoryAccess* one = remote; one != history_.data();) {
    --one;
    if (is_by(*one, owner))
      return belong_together(*one, *later) && tell_between(*one, *remote, *later);
  }
  return false;
}

bool Classifier::lets_others_in(const MemoryAccess& first, const MemoryAccess& remote,
                                const MemoryAccess& last) {
  const std::uint16_t thread = run_.steps()[first.at.step].thread;
  if (run_.steps()[remote.at.step].thread == thread) return false;  // a handler
  const StepIndex known =
      pair_.order(kFailing, OrderedBy::kWaiting).last_before(remote.at.step, thread);
  // By something else than the accesses themselves, be they atomic.
  if (known != kNoStep && known >= first.at.step &&
      std::ranges::none_of(history_, [&](const MemoryAccess& one) { return one.at.step == known; }))
    return true;
  return std::ranges::any_of(run_.outside_calls(), [&](const OutsideCall& call) {
    return call.step >= first.at.step && call.step <= last.at.step &&
           run_.steps()[call.step].thread == thread &&
           (call.name.contains("join") || is_creation(call.name));
  });
}

bool Classifier::tell_between(const MemoryAccess& first, const MemoryAccess& remote,
                              const MemoryAccess& last) {
  if (lets_others_in(first, remote, last)) return false;
  // Who looks again and again in one line waits for what the failing run never writes: nothing comes between its looks.
  if (!first.writes && !last.writes && is_omitted() &&
      pair_.place(kFailing, first.at) == pair_.place(kFailing, last.at))
    return false;
  cause_.pattern = CausePattern::kBetween;
  cause_.earlier = event(kFailing, first.at);
  cause_.remote = event(kFailing, remote.at);
  if (remote.frees) cause_.remote->what = CauseEvent::What::kFrees;
  root_.earlier = first.at;
  root_.remote = remote.at;
  root_.later = last.at;
  cause_.later = event(kFailing, last.at);
  tell_callers(first.at, last.at);
  auto common = excluding(locks_at(run_, first.at.step), locks_at(run_, remote.at.step));
  const auto held = locks_at(run_, last.at.step);
  std::erase_if(common, [&](std::uint64_t lock) { return !held.contains(lock); });
  tell_release(first.at, last.at.step, common);
  cause_.unordered = unordered(first.at, remote.at) || unordered(remote.at, last.at);
  cause_.kind = cause_.unordered ? CauseKind::kDataRace : CauseKind::kAtomicityViolation;
  return true;
}

}  // namespace clew
