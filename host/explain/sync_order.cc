#include "host/explain/sync_order.h"

#include <algorithm>
#include <ranges>

namespace clew {

SyncOrder::SyncOrder(const Dependences& run, CodeMap& code, OrderedBy by)
    : run_(run.run()), by_(by) {
  const std::size_t threads = run_.thread_count();
  now_.assign(threads, Times(threads));
  changes_.resize(threads);
  atomic_.resize(threads);
  for (std::size_t i = 0; i < threads; ++i)
    if (const Instance call = run.creation(static_cast<std::uint16_t>(i)); call.valid())
      created_[call.step].push_back(static_cast<std::uint16_t>(i));
  std::map<StepIndex, const OutsideCall*> returns;
  for (const OutsideCall& call : run_.outside_calls())
    if (call.back != kNoStep) returns[call.back] = &call;
  auto call = run_.outside_calls().begin();
  const auto end = run_.outside_calls().end();
  for (StepIndex step = 0; step < run_.steps().size(); ++step) {
    if (run_.steps()[step].hidden) continue;
    const std::uint16_t thread = run_.steps()[step].thread;
    if (run_.thread(thread).front() == step) enter(step);
    if (const auto back = returns.find(step); back != returns.end()) come_back(*back->second, step);
    if (atomic_[thread] != 0) atomic_accesses(step);
    while (call != end && call->step < step) ++call;
    if (call == end || call->step != step) continue;
    if (is_atomic(point_kind(code, *call))) {
      atomic_[thread] = call->registers.arguments[1];
    } else {
      leave(*call);
    }
  }
}

void SyncOrder::enter(StepIndex step) {
  const std::uint16_t thread = run_.steps()[step].thread;
  if (const auto born = births_.find(thread); born != births_.end())
    join(thread, step, born->second);
}

void SyncOrder::leave(const OutsideCall& call) {
  const std::uint16_t thread = run_.steps()[call.step].thread;
  if (const auto made = created_.find(call.step); made != created_.end())
    for (const std::uint16_t child : made->second) births_[child] = released(thread, call.step);
  const SyncCall what = sync_call(call);
  switch (what.kind) {
    case SyncKind::kCondition:
      if (what.step == SyncStep::kWakes)
        wakes_[what.object].push_back({call.step, released(thread, call.step)});
      break;
    case SyncKind::kSemaphore:
      if (what.step == SyncStep::kWakes) merge(objects_[what.object], released(thread, call.step));
      break;
    case SyncKind::kBarrier:
      merge(objects_[what.object], released(thread, call.step));
      break;
    default:
      break;
  }
}

void SyncOrder::come_back(const OutsideCall& call, StepIndex step) {
  const std::uint16_t thread = run_.steps()[step].thread;
  const SyncCall what = sync_call(call);
  if (what.step != SyncStep::kWaits) return;
  if (what.kind == SyncKind::kJoin) join_ended(call, step);
  if (what.kind == SyncKind::kCondition) {
    const auto found = wakes_.find(what.object);
    if (found == wakes_.end()) return;
    // The last while it waited.
    const Wake& last = found->second.back();
    if (last.step > call.step) join(thread, step, last.times);
  } else if (what.kind == SyncKind::kSemaphore || what.kind == SyncKind::kBarrier) {
    join(thread, step, objects_[what.object]);
  }
}

// Which thread a handle stands for is not in the trace: any that has ended by then. If there are several,
// all of them count, so that nothing is called unordered that is not.
void SyncOrder::join_ended(const OutsideCall& call, StepIndex step) {
  if ((call.result & UINT32_MAX) != 0) return;
  for (std::size_t i = 0; i < run_.thread_count(); ++i) {
    const auto thread = static_cast<std::uint16_t>(i);
    const auto& list = run_.thread(thread);
    if (list.empty() || list.back() >= step || thread == run_.steps()[step].thread) continue;
    join(run_.steps()[step].thread, step, released(thread, list.back()));
  }
}

void SyncOrder::atomic_accesses(StepIndex step) {
  const BlockStep& info = run_.steps()[step];
  const auto& accesses = run_.block_of(step).accesses;
  for (std::uint32_t i = 0; i < accesses.size(); ++i) {
    const RecordedAccess& one = accesses[i];
    if (one.instruction >= info.executed || one.kind == AccessKind::kString) continue;
    const std::uint64_t address = run_.access_address(step, i);
    if (address != atomic_[info.thread]) continue;
    if (one.kind == AccessKind::kRead || (one.kind != AccessKind::kWrite && by_ == OrderedBy::kAll))
      join(info.thread, step, objects_[address]);
    if (one.kind != AccessKind::kRead) {
      objects_[address] = released(info.thread, step);
      atomic_writes_[step] = one.instruction;
    }
    atomic_[info.thread] = 0;
    return;
  }
}

void SyncOrder::merge(Times& to, const Times& from) const {
  to.resize(now_.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

void SyncOrder::join(std::uint16_t thread, StepIndex step, const Times& from) {
  const Times before = now_[thread];
  merge(now_[thread], from);
  now_[thread][thread] = 0;
  if (now_[thread] != before) changes_[thread].emplace_back(step, now_[thread]);
}

SyncOrder::Times SyncOrder::released(std::uint16_t thread, StepIndex step) const {
  Times times = now_[thread];
  times[thread] = step + 1;
  return times;
}

StepIndex SyncOrder::last_before(StepIndex step, std::uint16_t thread) const {
  const auto& changes = changes_[run_.steps()[step].thread];
  const auto after =
      std::ranges::upper_bound(changes, step, {}, [](const auto& change) { return change.first; });
  if (after == changes.begin()) return kNoStep;
  const StepIndex known = std::prev(after)->second[thread];
  return known == 0 ? kNoStep : known - 1;
}

Instance SyncOrder::release_of(StepIndex step) const {
  const auto write = atomic_writes_.find(step);
  return {step, write == atomic_writes_.end() ? run_.steps()[step].executed - 1u : write->second};
}

bool SyncOrder::before(StepIndex first, StepIndex second) const {
  const StepIndex known = last_before(second, run_.steps()[first].thread);
  return known != kNoStep && known >= first;
}

}  // namespace clew
