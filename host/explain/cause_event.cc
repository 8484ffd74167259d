#include "host/explain/cause_event.h"

#include "host/explain/memory_history.h"

namespace clew {
namespace {

// The user's line that called the function it is in, if that is the user's, too.
ToldPlace caller_of(TracedPair& pair, WhichRun side, const ToldPlace& of) {
  const CodePlace& inner = of.place;
  if (inner.outer_line != 0) {
    CodePlace outer;
    outer.file = inner.outer_file;
    outer.line = inner.outer_line;
    outer.function = inner.outer_function;
    outer.user = true;
    return {outer, of.at};
  }
  const RunTrace& run = pair.trace(side);
  const StepIndex call = run.frames()[run.steps()[of.at.step].frame].call;
  if (call == kNoStep) return {};
  const Instance caller = pair.user_instance(side, {call, run.steps()[call].executed - 1u});
  return caller.valid() ? ToldPlace{pair.place(side, caller), caller} : ToldPlace{};
}

// The head of a class is the line of the functions that the compiler makes for it.
bool is_class_head(std::string_view text) {
  return text.starts_with("struct ") || text.starts_with("class ") || text.starts_with("union ");
}

// Whether a compare-exchange has left the memory as it was: what it makes is what was written before.
bool fails_to_update(TracedPair& pair, WhichRun side, Instance at, std::uint32_t access) {
  const RunTrace& run = pair.trace(side);
  const std::uint64_t address = run.access_address(at.step, access);
  if (point_kind_of(pair, side, at, address) != abi::PointKind::kAtomicCas) return false;
  const Instance from = pair.run(side).source(at.step, access);
  if (from.step >= RunTrace::kFromOutside) return false;
  const auto [first, end] = run.accesses(from);
  for (std::uint32_t i = first; i < end; ++i)
    if (run.access(from.step, i).kind != AccessKind::kRead && run.access(from.step, i).has_value &&
        run.access_address(from.step, i) == address &&
        run.access(from.step, i).size == run.access(at.step, access).size)
      return run.access_value(from.step, i) == run.access_value(at.step, access);
  return false;
}

}  // namespace

ToldPlace told_place(TracedPair& pair, Naming& naming, WhichRun side, Instance at) {
  constexpr int kMostCalls = 6;
  const Instance user = pair.user_instance(side, at);
  ToldPlace told{pair.place(side, at), user.valid() ? user : at};
  for (int i = 0; i < kMostCalls && user.valid() && is_class_head(naming.text(told.place)); ++i) {
    ToldPlace caller = caller_of(pair, side, told);
    if (caller.place.line == 0) break;
    told = std::move(caller);
  }
  return told;
}

Location location(const CodePlace& place) { return {place.file, place.line, place.function}; }

std::string party_name(TracedPair& pair, WhichRun side, StepIndex step) {
  const std::string& id = pair.run(side).threads()[pair.trace(side).steps()[step].thread];
  const Parties& parties = pair.parties(side);
  return parties.is_handler(parties.of(step)) ? id + "'s signal handler" : id;
}

CauseEvent event_of(TracedPair& pair, Naming& naming, WhichRun side, Instance at,
                    std::uint64_t address, std::uint32_t size) {
  const RunTrace& run = pair.trace(side);
  CauseEvent event;
  event.thread = party_name(pair, side, at.step);
  const ToldPlace told = told_place(pair, naming, side, at);
  event.at = location(told.place);
  event.text = naming.text(told.place);
  event.called_at = location(caller_of(pair, side, told).place);
  event.clock = run.clock(at.step);
  for (const auto& [lock, mode] : locks_at(run, at.step))
    event.locks.push_back({lock, naming.sync_object(side, at, lock), mode == LockMode::kShared});
  const auto [first, end] = run.accesses(at);
  for (std::uint32_t i = first; i < end; ++i) {
    const RecordedAccess& access = run.access(at.step, i);
    const std::uint64_t there = run.access_address(at.step, i);
    if (there >= address + size || there + access.size <= address) continue;
    event.what = access.kind == AccessKind::kRead    ? CauseEvent::What::kReads
                 : access.kind == AccessKind::kWrite ? CauseEvent::What::kWrites
                                                     : CauseEvent::What::kUpdates;
    if (!access.has_value) continue;
    if (event.what == CauseEvent::What::kUpdates && fails_to_update(pair, side, at, i))
      event.what = CauseEvent::What::kFailsToUpdate;
    const auto name = naming.memory(side, at, there, access.size);
    event.value =
        naming.value(side, at, run.access_value(at.step, i), access.size, name ? &*name : nullptr);
  }
  if (event.what != CauseEvent::What::kNothing || !run.instruction(at).is_call()) return event;
  event.what = CauseEvent::What::kCalls;
  if (const OutsideCall* call = run.outside_call(at.step)) {
    event.call = call->name;
    if (releases_memory(call->name)) event.what = CauseEvent::What::kFrees;
    if (call->back != kNoStep)
      event.value = naming.value(side, at, call->result & UINT32_MAX, 4, nullptr);
  }
  return event;
}

}  // namespace clew
