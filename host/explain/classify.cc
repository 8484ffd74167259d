#include <algorithm>

#include "host/explain/activity.h"
#include "host/explain/cause_event.h"
#include "host/explain/classifier.h"
#include "host/explain/hand_over.h"
#include "host/explain/sync_calls.h"

namespace clew {
namespace {

bool allocates(std::string_view name) {
  return name == "malloc" || name == "calloc" || name.starts_with("_Znw") ||
         name.starts_with("_Zna");
}

}  // namespace

bool is_creation(std::string_view name) {
  return name == "pthread_create" || name == "thrd_create";
}

const OutsideCall* call_of(const RunTrace& run, NodeId node) {
  if (is_unseen(node) || !run.instruction(instance_of(node)).is_call()) return nullptr;
  return run.outside_call(instance_of(node).step);
}

bool unordered(TracedPair& pair, Instance a, Instance b, std::uint64_t address, WhichRun side) {
  const RunTrace& run = pair.trace(side);
  if (run.steps()[a.step].thread == run.steps()[b.step].thread) return false;
  if (!excluding(locks_at(run, a.step), locks_at(run, b.step)).empty()) return false;
  if (pair.order(side).before(std::min(a.step, b.step), std::max(a.step, b.step))) return false;
  return !is_atomic(pair, side, a, address) || !is_atomic(pair, side, b, address);
}

Cause Classifier::classify() {
  const Instance use = instance_of(root_.use_failing);
  party_ = parties_.of(use.step);
  cause_.use = event(kFailing, use);
  if (root_.use_passing != kNoNode)
    cause_.passing_value = event(kPassing, instance_of(root_.use_passing)).value;
  if (const auto name = naming_.memory(kFailing, use, root_.address, root_.size))
    cause_.variable = name->name;
  if (cause_.variable.empty() && root_.address != 0)
    cause_.memory = naming_.pointed_to(kFailing, use, root_.address);
  cause_.failing_source = source(kFailing, root_.from_failing);
  cause_.passing_source = source(kPassing, root_.from_passing);
  if (root_.address == 0) return result_of_call();
  history_ = history_of(run_, root_.address, root_.size);
  if (frame_ended(use) || use_after_free(use)) return std::move(cause_);
  if (reads_half(use) || between(use)) return std::move(cause_);
  if (root_.settled) {
    cause_.pattern = is_foreign(kFailing, root_.from_failing, root_.use_failing)
                         ? CausePattern::kOverwritten
                         : CausePattern::kNone;
    cause_.kind = CauseKind::kUnknown;
  } else if (is_foreign(kPassing, root_.from_passing, root_.use_passing)) {
    too_early();
  } else if (is_foreign(kFailing, root_.from_failing, root_.use_failing)) {
    overwritten();
  }
  return std::move(cause_);
}

bool Classifier::is_foreign(WhichRun side, NodeId made, NodeId use) const {
  const Parties& parties = pair_.parties(side);
  return !is_unseen(made) &&
         parties.of(instance_of(made).step) != parties.of(instance_of(use).step);
}

CauseEvent Classifier::event(WhichRun side, Instance at) {
  return event_of(pair_, naming_, side, at, root_.address, root_.size);
}

std::optional<CauseEvent> Classifier::source(WhichRun side, NodeId node) {
  if (instance_of(node).step == RunTrace::kFromStart) return CauseEvent{};
  if (is_unseen(node)) return std::nullopt;
  return event(side, instance_of(node));
}

bool Classifier::unordered(Instance a, Instance b) {
  return clew::unordered(pair_, a, b, root_.address);
}

const MemoryAccess* Classifier::entry(Instance at) const {
  const auto found = std::ranges::find(history_, at, &MemoryAccess::at);
  return found == history_.end() ? nullptr : &*found;
}

bool Classifier::is_by(const MemoryAccess& one, PartyId party) const {
  return parties_.of(one.at.step) == party;
}

bool Classifier::same_activity(Instance a, Instance b) { return clew::same_activity(pair_, a, b); }

bool Classifier::is_first_of_new(const MemoryAccess& one) {
  const Allocation* memory = run_.allocation(root_.address, one.at.step);
  if (memory == nullptr || parties_.of(memory->made) != parties_.of(one.at.step) || !one.writes)
    return false;
  const MemoryAccess* first = history_.data();
  while (first != &one && first->at.step <= memory->made) ++first;
  return first == &one || std::all_of(first, &one, [&](const MemoryAccess& before) {
           return before.writes && is_by(before, parties_.of(one.at.step));
         });
}

void Classifier::too_early() {
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
  cause_.omitted = !here.valid() && !pair_.alignment().cut_off(kPassing, there.step);
  const auto& threads = pair_.run(kFailing).threads();
  const std::string& id =
      pair_.run(kPassing).threads()[pair_.trace(kPassing).steps()[there.step].thread];
  const auto late = static_cast<std::size_t>(std::ranges::find(threads, id) - threads.begin());
  if (late < run_.thread_count() && late != run_.steps()[use.step].thread)
    tell_let_go(use, static_cast<std::uint16_t>(late), here.valid() ? here.step : kNoStep);
  tell_sleep(use);
  if (tell_time_out(use)) return;
  if (tell_beside(use, here, pair_.parties(kPassing).of(there.step))) return;
  if (tell_sections(use, here, there)) return;
  if (here.valid() && split(use, here)) return;
  const MemoryAccess* from =
      is_unseen(root_.from_failing) ? nullptr : entry(instance_of(root_.from_failing));
  const bool fresh =
      instance_of(root_.from_failing).step == RunTrace::kFromStart ||
      is_allocation(root_.from_failing) ||
      (from != nullptr && is_foreign(kFailing, root_.from_failing, root_.use_failing) &&
       is_first_of_new(*from));
  // A failing run that ends before the write says nothing of what keeps the two apart, but the passing one does.
  cause_.unordered = here.valid() ? unordered(use, here)
                                  : clew::unordered(pair_, there, instance_of(root_.use_passing),
                                                    root_.address, kPassing);
  cause_.kind = fresh || cause_.let_go || !cause_.unordered ? CauseKind::kOrderViolation
                                                            : CauseKind::kDataRace;
}

void Classifier::overwritten() {
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
    if (is_ending(write)) {
      cause_.ending = true;
      cause_.kind = CauseKind::kOrderViolation;
      return;
    }
    if (is_cleared(use, write)) {
      cause_.cleared = true;
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

bool Classifier::is_allocation(NodeId node) {
  const OutsideCall* call = call_of(run_, node);
  return call != nullptr && allocates(call->name);
}

std::set<std::uint64_t> Classifier::held_at(Instance at) const {
  std::set<std::uint64_t> result;
  for (const auto& [lock, mode] : locks_at(run_, at.step)) result.insert(lock);
  return result;
}

void Classifier::tell_release(Instance first, StepIndex end, const std::set<std::uint64_t>& locks) {
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

void Classifier::tell_callers(Instance first, Instance last) {
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

Cause classify(TracedPair& pair, Naming& naming, const DualSlice& slice, Root& root) {
  return Classifier(pair, naming, slice, root).classify();
}

}  // namespace clew
