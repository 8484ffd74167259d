#include "host/explain/cause_event.h"
#include "host/explain/classifier.h"
#include "host/explain/memory_history.h"

namespace clew {

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

bool looks_again(TracedPair& pair, const StaleRead& stale, Instance until) {
  const RunTrace& run = pair.trace(kFailing);
  const Parties& parties = pair.parties(kFailing);
  const PartyId party = parties.of(stale.read.step);
  const RecordedAccess& access = run.access(stale.read.step, stale.access);
  for (const MemoryAccess& one :
       history_of(run, run.access_address(stale.read.step, stale.access), access.size)) {
    if (!(stale.write < one.at) || parties.of(one.at.step) != party) continue;
    if (!(one.at < until)) return false;
    if (run.instruction(one.at).address == run.instruction(stale.read).address) return true;
    if (one.writes) return false;
  }
  return false;
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

}  // namespace clew
