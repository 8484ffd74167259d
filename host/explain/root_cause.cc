#include "host/explain/root_cause.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "host/explain/activity.h"
#include "host/explain/cause_event.h"
#include "host/explain/descriptors.h"
#include "host/explain/hand_over.h"
#include "host/explain/memory_history.h"
#include "host/explain/split_region.h"
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
  if (!excluding(locks_at(run, a.step), locks_at(run, b.step)).empty()) return false;
  if (pair.order(kFailing).before(std::min(a.step, b.step), std::max(a.step, b.step))) return false;
  return !is_atomic(pair, kFailing, a, address) || !is_atomic(pair, kFailing, b, address);
}

class Classifier {
 public:
  Classifier(TracedPair& pair, Naming& naming, const DualSlice& slice, Root& root)
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
    if (root_.use_passing != kNoNode)
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
    if (closed_before()) return std::move(cause_);
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

  // What it is given is a descriptor that another thread has closed.
  bool closed_before() {
    const auto found = use_after_close(pair_, instance_of(root_.use_failing));
    if (!found) return false;
    const auto call = [&](Instance at) { return event_of(pair_, naming_, kFailing, at, 0, 0); };
    cause_.kind = CauseKind::kOrderViolation;
    cause_.pattern = CausePattern::kUseAfterFree;
    cause_.use = call(found->use);
    cause_.descriptor = found->number;
    cause_.other_end = found->other_end;
    cause_.failing_source = call(found->closed);
    cause_.failing_source->what = CauseEvent::What::kCloses;
    if (found->reopened.valid()) {
      cause_.reopened = call(found->reopened);
      cause_.reopened->call = found->reopened_by;
    }
    if (!found->got.valid()) return true;
    cause_.got = event_of(pair_, naming_, kFailing, found->got, found->got_address, 4);
    if (const auto name = naming_.memory(kFailing, found->got, found->got_address, 4))
      cause_.variable = name->name;
    return true;
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
        if (one.writes && !one.frees && read < one.at && one.at.step < freed.step &&
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

  bool entry_is_null(const MemoryAccess& use) const {
    const RecordedAccess& read = run_.access(use.at.step, use.access);
    return read.has_value && read.size == 8 && run_.access_value(use.at.step, use.access) == 0;
  }

  // The nearest of its own accesses before that are in the same round of what both are in.
  bool in_one_round_with_own(const MemoryAccess& use) {
    const MemoryAccess* remote = nullptr;
    for (const MemoryAccess* one = &use; one != history_.data();) {
      --one;
      const bool mine = is_by(*one, party_);
      if (!mine && one->writes && remote == nullptr) remote = one;
      if (mine && remote == nullptr && one->writes) return false;
      if (!mine || remote == nullptr) continue;
      if (!same_activity(one->at, use.at)) return false;
      const FrameIndex frame = shared_frame(run_, one->at, use.at);
      if (site_in(run_, one->at, frame) < site_in(run_, use.at, frame))
        return tell_between(*one, *remote, use);
    }
    return false;
  }

  // It reads what another has written, and has accessed it itself before that.
  bool behind_own(const MemoryAccess& use) {
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
      // What is new is not yet complete: the reader comes too early.
      if (!remote->writes && is_first_of_new(*one)) return false;
      return tell_between(*one, *remote, *later);
    }
    return false;
  }

  // The first access of memory that the same call, or what it calls, has allocated.
  bool is_first_of_new(const MemoryAccess& one) {
    const Allocation* memory = run_.allocation(root_.address, one.at.step);
    if (memory == nullptr || parties_.of(memory->made) != parties_.of(one.at.step) || !one.writes)
      return false;
    const MemoryAccess* first = history_.data();
    while (first != &one && first->at.step <= memory->made) ++first;
    return first == &one || std::all_of(first, &one, [&](const MemoryAccess& before) {
             return before.writes && is_by(before, parties_.of(one.at.step));
           });
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

  std::set<std::uint64_t> held_at(Instance at) const {
    std::set<std::uint64_t> result;
    for (const auto& [lock, mode] : locks_at(run_, at.step)) result.insert(lock);
    return result;
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

  // The lines of the innermost function of the user's that both are in, if they are in calls of it.
  void tell_callers(Instance first, Instance last) {
    const FrameIndex shared = shared_frame(run_, first, last);
    if (shared == kNoFrame) return;
    const auto line_in = [&](Instance at) -> Location {
      for (FrameIndex f = run_.steps()[at.step].frame; f != shared; f = run_.frames()[f].parent) {
        if (run_.frames()[f].call == kNoStep) return {};
        at = {run_.frames()[f].call, run_.steps()[run_.frames()[f].call].executed - 1u};
      }
      return location(told_place(pair_, naming_, kFailing, at).place);
    };
    const Location before = line_in(first);
    const Location behind = line_in(last);
    if (before.line != 0 && before.line != cause_.earlier->at.line)
      cause_.earlier->called_at = before;
    if (behind.line != 0 && behind.line != cause_.later->at.line) cause_.later->called_at = behind;
  }

  bool same_activity(Instance a, Instance b) { return clew::same_activity(pair_, a, b); }

  // What the one thread accesses in two steps, of two variables, and the other comes between.
  bool split(Instance early, Instance late) {
    const auto found = find_split(pair_, early, late, root_.address, root_.size);
    if (!found) return false;
    const auto tell = [&](const SplitRegion::Access& one) {
      return event_of(pair_, naming_, kFailing, one.at, one.address, one.size);
    };
    const auto name = [&](const SplitRegion::Access& one) {
      const auto known = naming_.memory(kFailing, one.at, one.address, one.size);
      return known && !known->made_up ? known->name : std::string();
    };
    cause_.use_variable = cause_.variable;
    cause_.variable = name(found->first);
    cause_.later_variable = name(found->last);
    // Nothing is told by accesses that cannot be named.
    if (cause_.variable.empty() || cause_.later_variable.empty()) {
      cause_.variable = cause_.use_variable;
      cause_.use_variable = cause_.later_variable = "";
      return false;
    }
    cause_.pattern = CausePattern::kBetween;
    cause_.earlier = tell(found->first);
    cause_.later = tell(found->last);
    tell_callers(found->first.at, found->last.at);
    cause_.remote_meets_later = !(found->behind_first.at < found->last.at);
    const bool later = cause_.remote_meets_later;
    cause_.remote = tell(later ? found->before_last : found->behind_first);
    cause_.remote_too = tell(later ? found->behind_first : found->before_last);
    tell_release(found->first.at, found->last.at.step, held_at(found->first.at));
    cause_.unordered =
        clew::unordered(pair_, found->first.at, found->behind_first.at, found->first.address) ||
        clew::unordered(pair_, found->before_last.at, found->last.at, found->last.address);
    cause_.kind = cause_.unordered ? CauseKind::kDataRace : CauseKind::kAtomicityViolation;
    cause_.let_go.reset();
    return true;
  }

  // Whether it reads a null pointer, which the write has left where there was another before.
  bool is_cleared(Instance use, Instance write) {
    const MemoryAccess* read = entry(use);
    const MemoryAccess* cleared = entry(write);
    if (read == nullptr || cleared == nullptr || run_.access(use.step, read->access).size != 8 ||
        !run_.access(use.step, read->access).has_value ||
        run_.access_value(use.step, read->access) != 0)
      return false;
    for (const MemoryAccess* one = cleared; one != history_.data();) {
      --one;
      if (!one->writes || one->frees) continue;
      const RecordedAccess& before = run_.access(one->at.step, one->access);
      return before.has_value && before.size == 8 &&
             run_.allocation(run_.access_value(one->at.step, one->access), one->at.step) != nullptr;
    }
    return false;
  }

  // Whether the write belongs to the end of the object that the memory is a part of: a destructor writes it that was called for that
  // object, or for one that the same thread frees then.
  bool is_ending(Instance write) {
    const auto is_destructor = [](std::string_view function) { return function.contains('~'); };
    for (FrameIndex f = run_.steps()[write.step].frame; f != kNoFrame;
         f = run_.frames()[f].parent) {
      const StepIndex call = run_.frames()[f].call;
      if (call == kNoStep) break;
      const auto registers = run_.call_registers(call);
      if (!registers || !is_destructor(pair_.place_of_code(run_.frames()[f].entry).function))
        continue;
      const Allocation* object = run_.allocation(registers->arguments[0], write.step);
      const Allocation* memory = run_.allocation(root_.address, write.step);
      constexpr std::uint64_t kMostBytes = 4096;  // of an object that is not on the heap
      if (object != nullptr ? object == memory
                            : memory == nullptr && root_.address >= registers->arguments[0] &&
                                  root_.address - registers->arguments[0] < kMostBytes)
        return true;
    }
    const Allocation* memory = run_.allocation(root_.address, write.step);
    if (memory == nullptr || memory->freed == kNoStep || memory->freed < write.step ||
        parties_.of(memory->freed) != parties_.of(write.step))
      return false;
    return is_destructor(pair_.place(kFailing, write).function);
  }

  void too_early() {
    cause_.pattern = CausePattern::kTooEarly;
    const Instance use = instance_of(root_.use_failing);
    const Instance there = instance_of(root_.from_passing);
    // The same write in the failing run, if it comes to it.
    const Instance here = pair_.alignment().counterpart(kPassing, there);
    if (here.valid() && here < use) {
      // It has come before, and was overwritten; or it has gone elsewhere.
      if (!is_unseen(root_.from_failing) && here < instance_of(root_.from_failing))
        return overwritten();
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
    if (tell_time_out(use)) return;
    if (tell_beside(use, here, pair_.parties(kPassing).of(there.step))) return;
    if (here.valid() && split(use, here)) return;
    const MemoryAccess* from =
        is_unseen(root_.from_failing) ? nullptr : entry(instance_of(root_.from_failing));
    const bool fresh =
        instance_of(root_.from_failing).step == RunTrace::kFromStart ||
        is_allocation(root_.from_failing) ||
        (from != nullptr && is_foreign(kFailing, root_.from_failing, root_.use_failing) &&
         is_first_of_new(*from));
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
    const auto found =
        read_beside(pair_, slice_, use, late, missed.valid() ? missed.step : kNoStep, root_.address,
                    BesideAge::kNew, [&](Instance, Instance write) {
                      // What was written with the old value of this one is as old.
                      if (!is_unseen(root_.from_failing) &&
                          parties_.of(instance_of(root_.from_failing).step) == late &&
                          write < instance_of(root_.from_failing))
                        return false;
                      return !missed.valid() || same_activity(write, missed);
                    });
    if (!found) return false;
    tell_half(*found, use, missed);
    const StepIndex end = missed.valid() ? missed.step : kNoStep;
    tell_release(found->write, end, held_at(found->write));
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
    tell_release(write, found->write.step, held_at(write));
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

  // Whether the same wait times out in the passing run, and not only behind what the failing run has missed; if that does not
  // come to it, whether the thread's wait there ever does.
  bool times_out_in_passing(Instance wait) {
    const RunTrace& other = pair_.trace(kPassing);
    const Instance there = pair_.alignment().counterpart(kFailing, wait);
    if (there.valid()) {
      const OutsideCall* same = other.outside_call(there.step);
      if (same == nullptr || same->back == kNoStep) return true;
      const bool behind = cause_.pattern == CausePattern::kTooEarly &&
                          !is_unseen(root_.from_passing) &&
                          instance_of(root_.from_passing).step > same->step &&
                          instance_of(root_.from_passing).step < same->back;
      cause_.timed_out_late = timed_out(*same) && behind;
      return timed_out(*same) && !behind;
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
  bool tell_time_out(Instance early) {
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
    if (!cause_.timed_out) return false;
    cause_.kind = CauseKind::kChoice;
    cause_.let_go.reset();
    cause_.created = false;
    cause_.slept.reset();
    return true;
  }

  // Where the other has written the pointer by which the thread comes to the memory, if it is its own new memory.
  std::optional<Instance> published(Instance early, std::uint16_t late_thread) {
    const auto got = where_got(pair_, early, root_.address);
    if (!got || got->memory == nullptr || run_.steps()[got->memory->made].thread != late_thread)
      return std::nullopt;
    const auto [first, end] = run_.accesses(got->read);
    for (std::uint32_t i = first; i < end; ++i) {
      if (run_.access(got->read.step, i).kind == AccessKind::kWrite) continue;
      const Instance from = pair_.run(kFailing).source(got->read.step, i);
      if (from.step < RunTrace::kFromOutside && run_.steps()[from.step].thread == late_thread &&
          run_.allocation(run_.access_address(got->read.step, i), from.step) != got->memory)
        return from;
    }
    return std::nullopt;
  }

  void tell_let_go(Instance early, std::uint16_t late_thread, StepIndex late) {
    auto by = published(early, late_thread);
    if (!by) by = let_go(pair_, early, late_thread, late, root_.address);
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
    if (tell_time_out(write)) return;
    if (parties_.of(write.step) != party_) {
      if (is_cleared(use, write)) {
        cause_.cleared = true;
        cause_.kind = CauseKind::kOrderViolation;
        return;
      }
      if (is_ending(write)) {
        cause_.ending = true;
        cause_.kind = CauseKind::kOrderViolation;
        return;
      }
      if (split(write, use)) return;
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
  Root& root_;
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

Cause classify(TracedPair& pair, Naming& naming, const DualSlice& slice, Root& root) {
  return Classifier(pair, naming, slice, root).classify();
}

}  // namespace clew
