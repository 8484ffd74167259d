#include "host/explain/cause_event.h"

#include "host/explain/memory_history.h"

namespace clew {
namespace {

// The user's line that called the function it is in, if that is the user's, too.
Location caller_of(TracedPair& pair, WhichRun side, Instance at) {
  const RunTrace& run = pair.trace(side);
  const Instance user = pair.user_instance(side, at);
  if (!user.valid()) return {};
  const CodePlace& inner = pair.place(side, user);
  if (inner.outer_line != 0) return {inner.outer_file, inner.outer_line, inner.outer_function};
  const StepIndex call = run.frames()[run.steps()[user.step].frame].call;
  if (call == kNoStep) return {};
  const Instance caller = pair.user_instance(side, {call, run.steps()[call].executed - 1u});
  return caller.valid() ? location(pair.place(side, caller)) : Location{};
}

}  // namespace

Location location(const CodePlace& place) { return {place.file, place.line, place.function}; }

bool releases_memory(std::string_view name) {
  return name == "free" || name == "realloc" || name.starts_with("_Zdl") ||
         name.starts_with("_Zda");
}

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
  const CodePlace& place = pair.place(side, at);
  event.at = location(place);
  event.text = naming.text(place);
  event.called_at = caller_of(pair, side, at);
  event.clock = run.clock(at.step);
  for (const std::uint64_t lock : locks_at(run, at.step))
    event.locks.push_back({lock, naming.sync_object(side, at, lock)});
  const auto [first, end] = run.accesses(at);
  for (std::uint32_t i = first; i < end; ++i) {
    const RecordedAccess& access = run.access(at.step, i);
    const std::uint64_t there = run.access_address(at.step, i);
    if (there >= address + size || there + access.size <= address) continue;
    event.what = access.kind == AccessKind::kRead    ? CauseEvent::What::kReads
                 : access.kind == AccessKind::kWrite ? CauseEvent::What::kWrites
                                                     : CauseEvent::What::kUpdates;
    if (!access.has_value) continue;
    const auto name = naming.memory(side, at, there, access.size);
    event.value = naming.value(side, at, run.access_value(at.step, i), access.size,
                               name ? name->type : nullptr);
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
