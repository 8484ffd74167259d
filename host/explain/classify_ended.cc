#include <algorithm>
#include <ranges>

#include "host/explain/cause_event.h"
#include "host/explain/classifier.h"
#include "host/explain/descriptors.h"
#include "host/explain/hand_over.h"
#include "host/observe/asan_shadow.h"

namespace clew {

Cause Classifier::result_of_call() {
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

bool Classifier::closed_before() {
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

bool Classifier::frame_ended(Instance use) {
  if (root_.checked == 0 || !is_foreign(kFailing, root_.from_failing, root_.use_failing))
    return false;
  const auto [first, end] = run_.accesses(use);
  const bool left = std::ranges::any_of(std::views::iota(first, end), [&](std::uint32_t i) {
    if (run_.access_address(use.step, i) != root_.checked || !run_.access(use.step, i).has_value)
      return false;
    const std::uint64_t says = run_.access_value(use.step, i);
    return says == kAsanFrameEnded || says == kAsanScopeEnded;
  });
  if (!left) return false;
  cause_.kind = CauseKind::kOrderViolation;
  cause_.pattern = CausePattern::kUseAfterFree;
  cause_.failing_source = event(kFailing, instance_of(root_.from_failing));
  cause_.failing_source->what = CauseEvent::What::kLeaves;
  return true;
}

bool Classifier::use_after_free(Instance use) {
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
  root_.freed = last(memory->freed);
  cause_.failing_source = event(kFailing, last(memory->freed));
  cause_.failing_source->what = CauseEvent::What::kFrees;
  cause_.allocated = event(kFailing, last(memory->made));
  if (got) cause_.got = event_of(pair_, naming_, kFailing, got->read, 0, 0);
  return true;
}

bool Classifier::between_before_free(Instance use, StepIndex freed) {
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

bool Classifier::pointer_races(Instance read, Instance freed) {
  const auto [first, end] = run_.accesses(read);
  for (std::uint32_t i = first; i < end; ++i) {
    const std::uint64_t address = run_.access_address(read.step, i);
    if (run_.access(read.step, i).kind != AccessKind::kRead || run_.is_of_points(address)) continue;
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

bool Classifier::is_cleared(Instance use, Instance write) {
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

bool Classifier::is_ending(Instance write) {
  const auto is_destructor = [](std::string_view function) { return function.contains('~'); };
  for (FrameIndex f = run_.steps()[write.step].frame; f != kNoFrame; f = run_.frames()[f].parent) {
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
  // It may be inlined into who ends the object.
  const std::vector<std::uint64_t> code{run_.instruction(write).address};
  return std::ranges::any_of(pair_.symbols(kFailing).frames(code), [&](const SourceFrame& frame) {
    return is_destructor(frame.function);
  });
}

}  // namespace clew
