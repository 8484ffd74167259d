#include <algorithm>

#include "host/explain/activity.h"
#include "host/explain/cause_event.h"
#include "host/explain/classifier.h"
#include "host/explain/hand_over.h"
#include "host/explain/split_region.h"
#include "host/explain/sync_calls.h"

namespace clew {

bool Classifier::split(Instance early, Instance late, Instance behind) {
  const auto found = find_split(pair_, early, late, root_.address, root_.size);
  if (!found || (behind.valid() && !(behind < found->first.at))) return false;
  const auto tell = [&](const SplitRegion::Access& one) {
    return event_of(pair_, naming_, kFailing, one.at, one.address, one.size);
  };
  const auto name = [&](const SplitRegion::Access& one) {
    const auto known = naming_.memory(kFailing, one.at, one.address, one.size);
    return known && !known->made_up && !is_reserved(known->name) ? known->name : std::string();
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

namespace {

// Whether it gives what it writes its first value: of two such none is new.
bool is_first_write(const RunTrace& run, Instance at) {
  const auto [first, end] = run.accesses(at);
  for (std::uint32_t i = first; i < end; ++i) {
    if (run.access(at.step, i).kind != AccessKind::kWrite) continue;
    const auto history =
        history_of(run, run.access_address(at.step, i), std::max(run.access(at.step, i).size, 1u));
    const auto write = std::ranges::find_if(history, &MemoryAccess::writes);
    return write != history.end() && write->at == at;
  }
  return false;
}

}  // namespace

bool Classifier::tell_beside(Instance use, Instance missed, PartyId passing_party) {
  const PartyId late = missed.valid() ? parties_.of(missed.step) : passing_party;
  if (parties_.is_handler(late) || late == party_) return false;
  if (!missed.valid() && late_thread(passing_party) != late) return false;
  const auto found =
      read_beside(pair_, slice_, use, late, missed.valid() ? missed.step : kNoStep, root_.address,
                  BesideAge::kNew, [&](Instance, Instance write) {
                    // What was written with the old value of this one is as old.
                    if (!is_unseen(root_.from_failing) &&
                        parties_.of(instance_of(root_.from_failing).step) == late &&
                        (write < instance_of(root_.from_failing) ||
                         in_one_section(run_, instance_of(root_.from_failing).step, write.step) ||
                         (is_first_write(run_, instance_of(root_.from_failing)) &&
                          is_first_write(run_, write))))
                      return false;
                    return !missed.valid() || in_one_round(pair_, write, missed);
                  });
  if (!found) return false;
  tell_half(*found, use, missed);
  const StepIndex end = missed.valid() ? missed.step : kNoStep;
  tell_release(found->write, end, held_at(found->write));
  tell_let_in(use, found->write);
  return true;
}

bool Classifier::tell_sections(Instance use, Instance missed, Instance there) {
  if (!let_go_.valid() || run_.instruction(let_go_).is_call()) return false;
  const auto first = locks_at(run_, let_go_.step);
  // The write that is missed may come only in the passing run: then it is looked at there.
  const WhichRun side = missed.valid() ? kFailing : kPassing;
  const Instance second = missed.valid() ? missed : there;
  const Instance begun =
      missed.valid() ? let_go_ : pair_.alignment().counterpart(kFailing, let_go_);
  if (!begun.valid() || !(begun < second) || !in_one_round(pair_, begun, second, side))
    return false;
  const auto read = went_by(pair_, use, let_go_);
  if (!read || excluding(first, locks_at(run_, read->read.step)).empty() ||
      excluding(locks_at(pair_.trace(side), second.step), locks_at(run_, use.step)).empty())
    return false;
  tell_release(let_go_, missed.valid() ? missed.step : kNoStep, held_at(let_go_));
  if (!cause_.released) return false;
  tell_half(*read, use, missed);
  return true;
}

std::size_t Classifier::late_thread(PartyId passing) {
  const auto& threads = pair_.run(kFailing).threads();
  const auto& theirs = pair_.run(kPassing).threads();
  if (passing >= theirs.size()) return threads.size();
  return static_cast<std::size_t>(std::ranges::find(threads, theirs[passing]) - threads.begin());
}

bool Classifier::reads_half(Instance use) {
  if (!is_foreign(kFailing, root_.from_failing, root_.use_failing)) return false;
  const Instance write = instance_of(root_.from_failing);
  const PartyId other = parties_.of(write.step);
  if (parties_.is_handler(other) || run_.instruction(write).is_call()) return false;
  const auto found = read_beside(pair_, slice_, use, other, kNoStep, root_.address, BesideAge::kOld,
                                 [&](Instance source, Instance later) {
                                   if (!in_one_round(pair_, write, later)) return false;
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
  tell_let_in(use, write);
  return true;
}

// Who is let in before the first of the two is written comes too early for both.
void Classifier::tell_let_in(Instance early, Instance first) {
  const auto by = let_go(pair_, early, run_.steps()[first.step].thread, first.step, root_.address,
                         [](Instance) { return true; });
  if (!by || !(*by < first) || !in_one_round(pair_, *by, first)) return;
  const OutsideCall* call = run_.outside_call(by->step);
  if (call != nullptr && is_creation(call->name)) return;
  cause_.let_go = event_of(pair_, naming_, kFailing, *by, 0, 0);
  cause_.kind = CauseKind::kOrderViolation;
}

void Classifier::tell_half(const ReadBeside& found, Instance use, Instance write) {
  cause_.beside = event_of(pair_, naming_, kFailing, found.write, found.address, found.size);
  cause_.beside_read = event_of(pair_, naming_, kFailing, found.read, found.address, found.size);
  if (const auto name = naming_.memory(kFailing, found.read, found.address, found.size))
    cause_.beside_variable = name->name;
  if (cause_.beside_variable.empty())
    cause_.beside_memory = naming_.pointed_to(kFailing, found.read, found.address);
  cause_.let_go.reset();
  cause_.unordered = clew::unordered(pair_, found.read, found.write, found.address) ||
                     (write.valid() && unordered(use, write));
  cause_.kind = cause_.unordered ? CauseKind::kDataRace : CauseKind::kAtomicityViolation;
}

}  // namespace clew
