#include "host/explain/root_cause.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "host/explain/activity.h"
#include "host/explain/cause_event.h"
#include "host/explain/hand_over.h"
#include "host/explain/memory_history.h"
#include "host/explain/sync_calls.h"

namespace clew {
namespace {

bool is_creation(std::string_view name) {
  return name == "pthread_create" || name == "thrd_create";
}

bool allocates(std::string_view name) {
  return name == "malloc" || name == "calloc" || name.starts_with("_Znw") ||
         name.starts_with("_Zna");
}

const OutsideCall* call_of(const RunTrace& run, NodeId node) {
  if (is_unseen(node) || !run.instruction(instance_of(node)).is_call()) return nullptr;
  return run.outside_call(instance_of(node).step);
}

// Whether nothing keeps the two apart: no lock that both hold, no synchronisation that orders them, and
// they are not both atomic. A thread and its own handler do not run at the same time.
bool unordered(TracedPair& pair, Instance a, Instance b, std::uint64_t address) {
  const RunTrace& run = pair.trace(kFailing);
  if (run.steps()[a.step].thread == run.steps()[b.step].thread) return false;
  const auto first = locks_at(run, a.step);
  const auto second = locks_at(run, b.step);
  if (std::ranges::any_of(first, [&](std::uint64_t lock) { return second.contains(lock); }))
    return false;
  if (pair.order(kFailing).before(std::min(a.step, b.step), std::max(a.step, b.step))) return false;
  return !is_atomic(pair, kFailing, a, address) || !is_atomic(pair, kFailing, b, address);
}

class Classifier {
 public:
  Classifier(TracedPair& pair, Naming& naming, const DualSlice& slice, const Root& root)
      : pair_(pair),
        naming_(naming),
        slice_(slice),
        root_(root),
        run_(pair.trace(kFailing)),
        parties_(pair.parties(kFailing)) {}

  Cause classify() {
    const Instance use = instance_of(root_.use_failing);
    party_ = parties_.of(use.step);
    cause_.use = event(kFailing, use);
    cause_.passing_value = event(kPassing, instance_of(root_.use_passing)).value;
    if (const auto name = naming_.memory(kFailing, use, root_.address, root_.size))
      cause_.variable = name->name;
    cause_.failing_source = source(kFailing, root_.from_failing);
    cause_.passing_source = source(kPassing, root_.from_passing);
    if (root_.address == 0) return result_of_call();
    history_ = history_of(run_, root_.address, root_.size);
    if (use_after_free(use)) return std::move(cause_);
    if (reads_half(use) || between(use)) return std::move(cause_);
    if (is_foreign(kPassing, root_.from_passing, root_.use_passing)) {
      too_early();
    } else if (is_foreign(kFailing, root_.from_failing, root_.use_failing)) {
      overwritten();
    }
    if (cause_.kind == CauseKind::kOrderViolation) tell_time_out(use);
    return std::move(cause_);
  }

 private:
  bool is_foreign(WhichRun side, NodeId made, NodeId use) const {
    const Parties& parties = pair_.parties(side);
    return !is_unseen(made) &&
           parties.of(instance_of(made).step) != parties.of(instance_of(use).step);
  }
  CauseEvent event(WhichRun side, Instance at) {
    return event_of(pair_, naming_, side, at, root_.address, root_.size);
  }
  std::optional<CauseEvent> source(WhichRun side, NodeId node) {
    if (instance_of(node).step == RunTrace::kFromStart) return CauseEvent{};
    if (is_unseen(node)) return std::nullopt;
    return event(side, instance_of(node));
  }

  // Nothing that was seen tells why a call gives another result, unless what it is given is no more.
  Cause result_of_call() {
    cause_.pattern = CausePattern::kResult;
    const std::string& call = cause_.use.call;
    const OutsideCall* use = call_of(run_, root_.use_failing);
    for (const OutsideCall& one : run_.outside_calls()) {
      if (use == nullptr || one.step >= use->step || !one.name.ends_with("_destroy") ||
          one.registers.arguments[0] != use->registers.arguments[0])
        continue;
      const Instance at{one.step, run_.steps()[one.step].executed - 1u};
      cause_.kind = CauseKind::kOrderViolation;
      cause_.pattern = CausePattern::kUseAfterFree;
      cause_.variable = naming_.sync_object(kFailing, at, one.registers.arguments[0]);
      cause_.failing_source = event(kFailing, at);
      cause_.failing_source->what = CauseEvent::What::kDestroys;
      return std::move(cause_);
    }
    // A call that was not seen to return may have, unless it is the last that the thread did.
    const auto returns = [&](WhichRun side, NodeId node, const std::string& value) {
      const RunTrace& run = pair_.trace(side);
      const StepIndex step = instance_of(node).step;
      return !value.empty() || run.thread(run.steps()[step].thread).back() == step;
    };
    if (!returns(kFailing, root_.use_failing, cause_.use.value) ||
        !returns(kPassing, root_.use_passing, cause_.passing_value) ||
        cause_.use.value == cause_.passing_value)
      cause_.pattern = CausePattern::kNone;
    const bool timed = call.contains("timed") || call.contains("clock") || call.contains("try");
    cause_.kind = timed ? CauseKind::kChoice : CauseKind::kUnknown;
    return std::move(cause_);
  }

  bool use_after_free(Instance use) {
    const auto is_freed = [&](const Allocation* memory) {
      return memory != nullptr && memory->freed != kNoStep && memory->freed < use.step;
    };
    const auto got = where_got(pair_, use, root_.address);
    const Allocation* memory = run_.allocation(root_.address, use.step);
    // Freed, and used again for something else since.
    if (!is_freed(memory) && got && is_freed(got->memory)) {
      memory = got->memory;
      cause_.reused = true;
    }
    if (!is_freed(memory)) return false;
    const auto last = [&](StepIndex step) {
      return Instance{step, run_.steps()[step].executed - 1u};
    };
    if (!cause_.reused && between_before_free(use, memory->freed)) {
      cause_.freed = event(kFailing, last(memory->freed));
      return true;
    }
    cause_.kind = got && pointer_races(got->read, last(memory->freed)) ? CauseKind::kDataRace
                                                                       : CauseKind::kOrderViolation;
    cause_.pattern = CausePattern::kUseAfterFree;
    cause_.failing_source = event(kFailing, last(memory->freed));
    cause_.failing_source->what = CauseEvent::What::kFrees;
    cause_.allocated = event(kFailing, last(memory->made));
    if (got) cause_.got = event_of(pair_, naming_, kFailing, got->read, 0, 0);
    return true;
  }

  // It has accessed the same before, in the same call, and another has changed it in between and only then freed
  // it: what should have been one step is two.
  bool between_before_free(Instance use, StepIndex freed) {
    const MemoryAccess* at = entry(use);
    if (at == nullptr) return false;
    const MemoryAccess* remote = nullptr;
    for (const MemoryAccess* one = at; one != history_.data();) {
      --one;
      const bool mine = is_by(*one, party_);
      if (!mine && one->writes && !one->frees && one->at.step < freed && remote == nullptr &&
          parties_.of(one->at.step) == parties_.of(freed))
        remote = one;
      if (!mine) continue;
      if (remote == nullptr || !one->writes || !same_activity(one->at, use)) return false;
      return tell_between(*one, *remote, *at);
    }
    return false;
  }

  // Whether the pointer was read, from memory that is still there, while who has freed what it points to could
  // write it: nothing orders the two. A pointer that is cleared after the release is part of an object that ends.
  bool pointer_races(Instance read, Instance freed) {
    const auto [first, end] = run_.accesses(read);
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint64_t address = run_.access_address(read.step, i);
      if (run_.access(read.step, i).kind != AccessKind::kRead || run_.is_of_points(address))
        continue;
      const Allocation* home = run_.allocation(address, freed.step);
      if (home != nullptr && home->freed != kNoStep) continue;
      for (const MemoryAccess& one : history_of(run_, address, 8))
        if (one.writes && !one.frees && one.at.step < freed.step &&
            parties_.of(one.at.step) == parties_.of(freed.step) && same_activity(one.at, freed) &&
            clew::unordered(pair_, read, one.at, address))
          return true;
    }
    return false;
  }

  bool unordered(Instance a, Instance b) { return clew::unordered(pair_, a, b, root_.address); }

  const MemoryAccess* entry(Instance at) const {
    const auto found = std::ranges::find(history_, at, &MemoryAccess::at);
    return found == history_.end() ? nullptr : &*found;
  }
  bool is_by(const MemoryAccess& one, PartyId party) const {
    return parties_.of(one.at.step) == party;
  }

  // One thread comes between two accesses of another that belong together.
  bool between(Instance use) {
    const MemoryAccess* at = entry(use);
    if (at == nullptr) return false;
    if (is_foreign(kFailing, root_.from_failing, root_.use_failing) && behind_own(*at)) return true;
    return before_own(*at) || inside_others(*at) || inside_another(*at);
  }

  // It reads what another has written, and has accessed it itself before that.
  bool behind_own(const MemoryAccess& use) {
    const MemoryAccess* remote = nullptr;
    for (const MemoryAccess* one = &use; one != history_.data();) {
      --one;
      const bool mine = is_by(*one, party_);
      if (!mine && one->writes && remote == nullptr) remote = one;
      if (!mine) continue;
      if (remote == nullptr || !same_activity(one->at, use.at)) return false;
      return tell_between(*one, *remote, use);
    }
    return false;
  }

  // It reads too early, and accesses it again behind the write that it has missed: to write, or so
  // that the failure depends on it, or because of what it has read.
  bool before_own(const MemoryAccess& use) {
    const MemoryAccess* remote = nullptr;
    const MemoryAccess* end = history_.data() + history_.size();
    for (const MemoryAccess* one = &use + 1; one != end; ++one) {
      const bool mine = is_by(*one, party_);
      if (!mine && one->writes && remote == nullptr) remote = one;
      if (!mine || one->frees || !same_activity(use.at, one->at)) continue;
      const bool matters = one->writes || slice_.half[kFailing].nodes.contains(node_of(one->at)) ||
                           !pair_.alignment().counterpart(kFailing, one->at).valid();
      if (remote == nullptr && one->writes) return false;
      if (remote != nullptr && matters) return tell_between(use, *remote, *one);
    }
    return false;
  }

  // It comes between two accesses of the thread whose write it has missed.
  bool inside_others(const MemoryAccess& use) {
    if (is_unseen(root_.from_passing)) return false;
    const Instance missed =
        pair_.alignment().counterpart(kPassing, instance_of(root_.from_passing));
    const MemoryAccess* later = missed.valid() ? entry(missed) : nullptr;
    if (later == nullptr || later->at < use.at) return false;
    const PartyId owner = parties_.of(missed.step);
    const MemoryAccess* remote = &use;
    for (const MemoryAccess* one = &use; one != later; ++one)
      if (is_by(*one, party_) && one->writes && !one->frees) remote = one;
    for (const MemoryAccess* one = &use; one != history_.data();) {
      --one;
      if (!is_by(*one, owner) || !same_activity(one->at, later->at)) continue;
      // It has read what it writes by, or it writes in two steps.
      if (!remote->writes && !one->writes) return false;
      return tell_between(*one, *remote, *later);
    }
    return false;
  }

  // It comes, with a write of its own, between two accesses of some other thread, of which the later one
  // overwrites what it wrote.
  bool inside_another(const MemoryAccess& use) {
    const MemoryAccess* written = nullptr;
    const MemoryAccess* end = history_.data() + history_.size();
    for (const MemoryAccess* later = &use; later != end; ++later) {
      if (is_by(*later, party_)) {
        if (later->writes && !later->frees) written = later;
        continue;
      }
      if (written == nullptr || !later->writes || later->frees) continue;
      const PartyId owner = parties_.of(later->at.step);
      for (const MemoryAccess* one = &use; one != history_.data();) {
        --one;
        if (!is_by(*one, owner)) continue;
        if (!same_activity(one->at, later->at)) break;
        return tell_between(*one, *written, *later);
      }
    }
    return false;
  }

  // Who waits for others to end, starts them, or lets this one come in between expects that.
  bool lets_others_in(const MemoryAccess& first, const MemoryAccess& remote,
                      const MemoryAccess& last) {
    const std::uint16_t thread = run_.steps()[first.at.step].thread;
    if (run_.steps()[remote.at.step].thread == thread) return false;  // a handler
    const StepIndex known = pair_.order(kFailing).last_before(remote.at.step, thread);
    // By something else than the accesses themselves, be they atomic.
    if (known != kNoStep && known >= first.at.step &&
        std::ranges::none_of(history_,
                             [&](const MemoryAccess& one) { return one.at.step == known; }))
      return true;
    return std::ranges::any_of(run_.outside_calls(), [&](const OutsideCall& call) {
      return call.step >= first.at.step && call.step <= last.at.step &&
             run_.steps()[call.step].thread == thread &&
             (call.name.contains("join") || is_creation(call.name));
    });
  }

  // Where the thread gives one of the locks back, between `first` and `end`.
  void tell_release(Instance first, StepIndex end, const std::set<std::uint64_t>& locks) {
    for (const OutsideCall& call : run_.outside_calls()) {
      if (call.step < first.step || call.step >= end ||
          run_.steps()[call.step].thread != run_.steps()[first.step].thread)
        continue;
      const SyncCall what = sync_call(call);
      const bool gives = what.kind == SyncKind::kLock && what.step == SyncStep::kReleases;
      const bool waits = what.kind == SyncKind::kCondition && what.step == SyncStep::kWaits;
      const std::uint64_t lock = waits ? call.registers.arguments[1] : what.object;
      if ((!gives && !waits) || !locks.contains(lock)) continue;
      const Instance at{call.step, run_.steps()[call.step].executed - 1u};
      cause_.released = event_of(pair_, naming_, kFailing, at, 0, 0);
      return;
    }
  }

  bool tell_between(const MemoryAccess& first, const MemoryAccess& remote,
                    const MemoryAccess& last) {
    if (lets_others_in(first, remote, last)) return false;
    cause_.pattern = CausePattern::kBetween;
    cause_.earlier = event(kFailing, first.at);
    cause_.remote = event(kFailing, remote.at);
    if (remote.frees) cause_.remote->what = CauseEvent::What::kFrees;
    cause_.later = event(kFailing, last.at);
    tell_callers(first.at, last.at);
    auto common = locks_at(run_, first.at.step);
    for (const Instance other : {remote.at, last.at}) {
      const auto held = locks_at(run_, other.step);
      std::erase_if(common, [&](std::uint64_t lock) { return !held.contains(lock); });
    }
    tell_release(first.at, last.at.step, common);
    cause_.unordered = unordered(first.at, remote.at) || unordered(remote.at, last.at);
    cause_.kind = cause_.unordered ? CauseKind::kDataRace : CauseKind::kAtomicityViolation;
    return true;
  }

  // The lines of the innermost function of the user's that both are in, if they are in calls of it.
  void tell_callers(Instance first, Instance last) {
    const FrameIndex shared = shared_frame(run_, first, last);
    if (shared == kNoFrame) return;
    const auto line_in = [&](Instance at) -> Location {
      for (FrameIndex f = run_.steps()[at.step].frame; f != shared; f = run_.frames()[f].parent) {
        if (run_.frames()[f].call == kNoStep) return {};
        at = {run_.frames()[f].call, run_.steps()[run_.frames()[f].call].executed - 1u};
      }
      return location(pair_.place(kFailing, at));
    };
    const Location before = line_in(first);
    const Location behind = line_in(last);
    if (before.line != 0 && before.line != cause_.earlier->at.line)
      cause_.earlier->called_at = before;
    if (behind.line != 0 && behind.line != cause_.later->at.line) cause_.later->called_at = behind;
  }

  bool same_activity(Instance a, Instance b) { return clew::same_activity(pair_, a, b); }

  void too_early() {
    cause_.pattern = CausePattern::kTooEarly;
    const Instance use = instance_of(root_.use_failing);
    const Instance there = instance_of(root_.from_passing);
    // The same write in the failing run, if it comes to it.
    const Instance here = pair_.alignment().counterpart(kPassing, there);
    if (here.valid() && here < use) {
      // It has come before, and was overwritten.
      if (!is_unseen(root_.from_failing)) return overwritten();
      cause_.pattern = CausePattern::kNone;
      return;
    }
    const auto& threads = pair_.run(kFailing).threads();
    const std::string& id =
        pair_.run(kPassing).threads()[pair_.trace(kPassing).steps()[there.step].thread];
    const auto late = static_cast<std::size_t>(std::ranges::find(threads, id) - threads.begin());
    if (late < run_.thread_count() && late != run_.steps()[use.step].thread)
      tell_let_go(use, static_cast<std::uint16_t>(late), here.valid() ? here.step : kNoStep);
    tell_sleep(use);
    if (tell_beside(use, here, pair_.parties(kPassing).of(there.step))) return;
    const bool fresh = instance_of(root_.from_failing).step == RunTrace::kFromStart ||
                       is_allocation(root_.from_failing);
    if (here.valid()) cause_.unordered = unordered(use, here);
    cause_.kind = fresh || cause_.let_go || !here.valid() || !cause_.unordered
                      ? CauseKind::kOrderViolation
                      : CauseKind::kDataRace;
  }

  // It has read one part of what the other writes in two steps, and not the other part. `passing_party` has
  // written it in the passing run; a handler's number is that of one run only.
  bool tell_beside(Instance use, Instance missed, PartyId passing_party) {
    const PartyId late = missed.valid() ? parties_.of(missed.step) : passing_party;
    if (parties_.is_handler(late) || late == party_) return false;
    if (!missed.valid() && late_thread(passing_party) != late) return false;
    const auto found = read_beside(pair_, slice_, use, late, missed.valid() ? missed.step : kNoStep,
                                   root_.address, BesideAge::kNew, [&](Instance, Instance write) {
                                     return !missed.valid() || same_activity(write, missed);
                                   });
    if (!found) return false;
    tell_half(*found, use, missed);
    const StepIndex end = missed.valid() ? missed.step : kNoStep;
    tell_release(found->write, end, locks_at(run_, found->write.step));
    return true;
  }

  // The thread of the failing run that is the same as that one of the passing run.
  std::size_t late_thread(PartyId passing) {
    const auto& threads = pair_.run(kFailing).threads();
    const auto& theirs = pair_.run(kPassing).threads();
    if (passing >= theirs.size()) return threads.size();
    return static_cast<std::size_t>(std::ranges::find(threads, theirs[passing]) - threads.begin());
  }

  // It has read what the other has just written, and something else that the other writes only afterwards.
  bool reads_half(Instance use) {
    if (!is_foreign(kFailing, root_.from_failing, root_.use_failing)) return false;
    const Instance write = instance_of(root_.from_failing);
    const PartyId other = parties_.of(write.step);
    if (parties_.is_handler(other) || run_.instruction(write).is_call()) return false;
    const auto found = read_beside(pair_, slice_, use, other, kNoStep, root_.address,
                                   BesideAge::kOld, [&](Instance source, Instance later) {
                                     if (!same_activity(write, later)) return false;
                                     // What it has written before may be the other half, too.
                                     return source.step >= RunTrace::kFromOutside ||
                                            parties_.of(source.step) != other ||
                                            is_of_earlier_round(run_, source, write, later);
                                   });
    if (!found) return false;
    cause_.pattern = CausePattern::kOverwritten;
    cause_.beside_missed = true;
    tell_half(*found, use, write);
    tell_release(write, found->write.step, locks_at(run_, write.step));
    return true;
  }

  void tell_half(const ReadBeside& found, Instance use, Instance write) {
    cause_.beside = event_of(pair_, naming_, kFailing, found.write, found.address, found.size);
    cause_.beside_read = event_of(pair_, naming_, kFailing, found.read, found.address, found.size);
    if (const auto name = naming_.memory(kFailing, found.read, found.address, found.size))
      cause_.beside_variable = name->name;
    cause_.let_go.reset();
    cause_.unordered = clew::unordered(pair_, found.read, found.write, found.address) ||
                       (write.valid() && unordered(use, write));
    cause_.kind = cause_.unordered ? CauseKind::kDataRace : CauseKind::kAtomicityViolation;
  }

  // Whether the same wait times out in the passing run; if that does not come to it, whether the thread's wait there
  // ever does.
  bool times_out_in_passing(Instance wait) {
    const RunTrace& other = pair_.trace(kPassing);
    const Instance there = pair_.alignment().counterpart(kFailing, wait);
    if (there.valid()) {
      const OutsideCall* same = other.outside_call(there.step);
      return same == nullptr || same->back == kNoStep || timed_out(*same);
    }
    const std::string& id = pair_.run(kFailing).threads()[run_.steps()[wait.step].thread];
    return std::ranges::any_of(other.outside_calls(), [&](const OutsideCall& call) {
      const Instance at{call.step, other.steps()[call.step].executed - 1u};
      return timed_out(call) &&
             pair_.run(kPassing).threads()[other.steps()[call.step].thread] == id &&
             other.instruction(at).address == run_.instruction(wait).address;
    });
  }

  // A wait that has timed out, and does not in the passing run, has let one of the two come there: the last before
  // its access, in the same call.
  void tell_time_out(Instance use) {
    const bool too_early = cause_.pattern == CausePattern::kTooEarly;
    if (!too_early && cause_.pattern != CausePattern::kOverwritten) return;
    const Instance early = too_early ? use : instance_of(root_.from_failing);
    for (const OutsideCall& call : run_.outside_calls()) {
      if (call.step >= early.step) break;
      const Instance at{call.step, run_.steps()[call.step].executed - 1u};
      if (!timed_out(call) || parties_.of(call.step) != parties_.of(early.step) ||
          !same_activity(at, early))
        continue;
      if (times_out_in_passing(at)) continue;
      cause_.timed_out = event_of(pair_, naming_, kFailing, at, 0, 0);
      cause_.timed_out->call = call.name;
    }
    if (!cause_.timed_out) return;
    cause_.kind = CauseKind::kChoice;
    cause_.let_go.reset();
    cause_.created = false;
    cause_.slept.reset();
  }

  void tell_let_go(Instance early, std::uint16_t late_thread, StepIndex late) {
    const auto by = let_go(pair_, early, late_thread, late, root_.address);
    if (!by) return;
    cause_.let_go = event_of(pair_, naming_, kFailing, *by, 0, 0);
    const OutsideCall* call = run_.outside_call(by->step);
    cause_.created = call != nullptr && is_creation(call->name);
  }

  // The last sleep before, in the same call or in one that it is in.
  void tell_sleep(Instance use) {
    for (const OutsideCall& call : run_.outside_calls()) {
      if (call.step >= use.step) break;
      const Instance at{call.step, run_.steps()[call.step].executed - 1u};
      if (is_sleep(call) && parties_.of(call.step) == party_ && same_activity(at, use))
        cause_.slept = event_of(pair_, naming_, kFailing, at, 0, 0);
    }
  }

  bool is_allocation(NodeId node) {
    const OutsideCall* call = call_of(run_, node);
    return call != nullptr && allocates(call->name);
  }

  void overwritten() {
    cause_.pattern = CausePattern::kOverwritten;
    const Instance use = instance_of(root_.use_failing);
    const Instance write = instance_of(root_.from_failing);
    cause_.unordered = unordered(use, write);
    const OutsideCall* call = call_of(run_, root_.from_failing);
    if (call != nullptr && releases_memory(call->name)) {
      cause_.pattern = CausePattern::kUseAfterFree;
      cause_.kind = CauseKind::kOrderViolation;
      return;
    }
    if (run_.steps()[write.step].thread != run_.steps()[use.step].thread)
      tell_let_go(write, run_.steps()[use.step].thread, use.step);
    // Who has created the other thread has not thereby said that it is done with the memory.
    if (cause_.created) cause_.let_go.reset();
    cause_.kind =
        cause_.unordered && !cause_.let_go ? CauseKind::kDataRace : CauseKind::kOrderViolation;
  }

  TracedPair& pair_;
  Naming& naming_;
  const DualSlice& slice_;
  const Root& root_;
  const RunTrace& run_;
  const Parties& parties_;
  PartyId party_ = 0;
  std::vector<MemoryAccess> history_;
  Cause cause_;
};

}  // namespace

Check check_of(TracedPair& pair, Naming& naming, const StaleRead& stale) {
  const RunTrace& run = pair.trace(kFailing);
  const std::uint64_t address = run.access_address(stale.read.step, stale.access);
  const std::uint32_t size = run.access(stale.read.step, stale.access).size;
  Check check;
  if (const auto name = naming.memory(kFailing, stale.read, address, size))
    check.variable = name->name;
  check.read = event_of(pair, naming, kFailing, stale.read, address, size);
  check.write = event_of(pair, naming, kFailing, stale.write, address, size);
  return check;
}

std::optional<Cause> check_then_act(TracedPair& pair, Naming& naming, const StaleRead& stale,
                                    StepIndex until) {
  const RunTrace& run = pair.trace(kFailing);
  const std::uint64_t address = run.access_address(stale.read.step, stale.access);
  const std::uint32_t size = run.access(stale.read.step, stale.access).size;
  const Parties& parties = pair.parties(kFailing);
  const PartyId party = parties.of(stale.read.step);
  for (const MemoryAccess& one : history_of(run, address, size)) {
    if (one.at < stale.read || one.at == stale.read || parties.of(one.at.step) != party) continue;
    if (one.at.step > until || one.frees) return std::nullopt;
    if (!one.writes) continue;
    if (one.at < stale.write) return std::nullopt;
    Cause cause;
    cause.pattern = CausePattern::kBetween;
    cause.check = check_of(pair, naming, stale);
    cause.variable = cause.check->variable;
    cause.earlier = cause.check->read;
    cause.remote = cause.check->write;
    cause.later = event_of(pair, naming, kFailing, one.at, address, size);
    cause.use = *cause.earlier;
    cause.unordered = unordered(pair, stale.read, stale.write, address) ||
                      unordered(pair, stale.write, one.at, address);
    cause.kind = cause.unordered ? CauseKind::kDataRace : CauseKind::kAtomicityViolation;
    return cause;
  }
  return std::nullopt;
}

Cause classify(TracedPair& pair, Naming& naming, const DualSlice& slice, const Root& root) {
  return Classifier(pair, naming, slice, root).classify();
}

}  // namespace clew
