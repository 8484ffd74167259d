#include <algorithm>

#include "host/explain/activity.h"
#include "host/explain/cause_event.h"
#include "host/explain/classifier.h"
#include "host/explain/hand_over.h"
#include "host/explain/sync_calls.h"

namespace clew {
namespace {

// Where the user's code resumes behind the wait: the library may look once more whether it has got what it waited for.
StepIndex back_in_user(TracedPair& pair, WhichRun side, const OutsideCall& wait) {
  constexpr std::size_t kMostSteps = 2'000;
  const RunTrace& run = pair.trace(side);
  const auto& list = run.thread(run.steps()[wait.step].thread);
  const std::size_t from = run.position(wait.back);
  for (std::size_t i = from; i < std::min(list.size(), from + kMostSteps); ++i)
    if (!run.steps()[list[i]].hidden && pair.place_of_code(run.address(list[i])).direct)
      return list[i];
  return wait.back;
}

}  // namespace

bool Classifier::times_out_in_passing(Instance wait) {
  const RunTrace& other = pair_.trace(kPassing);
  const Instance there = pair_.alignment().counterpart(kFailing, wait);
  if (there.valid()) {
    const OutsideCall* same = other.outside_call(there.step);
    if (same == nullptr || same->back == kNoStep) return true;
    const bool behind = cause_.pattern == CausePattern::kTooEarly &&
                        !is_unseen(root_.from_passing) &&
                        instance_of(root_.from_passing).step > same->step &&
                        instance_of(root_.from_passing).step < back_in_user(pair_, kPassing, *same);
    cause_.timed_out_late = timed_out(other, *same) && behind;
    return timed_out(other, *same) && !behind;
  }
  const std::string& id = pair_.run(kFailing).threads()[run_.steps()[wait.step].thread];
  return std::ranges::any_of(other.outside_calls(), [&](const OutsideCall& call) {
    const Instance at{call.step, other.steps()[call.step].executed - 1u};
    return timed_out(other, call) &&
           pair_.run(kPassing).threads()[other.steps()[call.step].thread] == id &&
           other.instruction(at).address == run_.instruction(wait).address;
  });
}

bool Classifier::tell_time_out(Instance early) {
  for (const OutsideCall& call : run_.outside_calls()) {
    if (call.step >= early.step) break;
    const Instance at{call.step, run_.steps()[call.step].executed - 1u};
    if (!timed_out(run_, call) || parties_.of(call.step) != parties_.of(early.step) ||
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

bool Classifier::is_of_missed_line(Instance at) {
  if (cause_.pattern != CausePattern::kTooEarly || !cause_.passing_source) return false;
  const CauseEvent event = event_of(pair_, naming_, kFailing, at, 0, 0);
  const Location& missed = cause_.passing_source->at;
  return missed.line != 0 && event.at.line == missed.line && event.at.file == missed.file &&
         event.thread == cause_.passing_source->thread;
}

std::optional<Instance> Classifier::published(Instance early, std::uint16_t late_thread) {
  constexpr int kMostPointers = 4;  // as long as a library's own lead from one to the next
  std::uint64_t address = root_.address;
  for (int i = 0; i < kMostPointers; ++i) {
    const auto got = where_got(pair_, early, address);
    if (!got || got->memory == nullptr || run_.steps()[got->memory->made].thread != late_thread)
      return std::nullopt;
    std::optional<Instance> write;
    const auto [first, end] = run_.accesses(got->read);
    for (std::uint32_t k = first; k < end && !write; ++k) {
      if (run_.access(got->read.step, k).kind == AccessKind::kWrite) continue;
      const Instance from = pair_.run(kFailing).source(got->read.step, k);
      address = run_.access_address(got->read.step, k);
      if (from.step < RunTrace::kFromOutside && run_.steps()[from.step].thread == late_thread &&
          run_.allocation(address, from.step) != got->memory)
        write = from;
    }
    if (!write || !is_of_missed_line(*write)) return write;
    early = got->read;
  }
  return std::nullopt;
}

void Classifier::tell_let_go(Instance early, std::uint16_t late_thread, StepIndex late) {
  auto by = published(early, late_thread);
  if (!by) {
    by = let_go(pair_, early, late_thread, late, root_.address,
                [&](Instance at) { return !is_of_missed_line(at); });
    if (!by) return;
    let_go_ = *by;
  }
  const CauseEvent event = event_of(pair_, naming_, kFailing, *by, 0, 0);
  if (event.at.line == 0) return;  // in a library, for nobody that is known
  cause_.let_go = event;
  const OutsideCall* call = run_.outside_call(by->step);
  cause_.created = call != nullptr && is_creation(call->name);
}

void Classifier::tell_sleep(Instance use) {
  for (const OutsideCall& call : run_.outside_calls()) {
    if (call.step >= use.step) break;
    const Instance at{call.step, run_.steps()[call.step].executed - 1u};
    if (is_sleep(call) && parties_.of(call.step) == party_ && same_activity(at, use))
      cause_.slept = event_of(pair_, naming_, kFailing, at, 0, 0);
  }
}

}  // namespace clew
