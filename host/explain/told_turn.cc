#include "host/explain/told_turn.h"

#include <utility>

#include "host/explain/cause_event.h"
#include "host/explain/classifier.h"
#include "host/explain/other_order.h"
#include "host/explain/wrong_turn.h"

namespace clew {
namespace {

Cause cause_of(TracedPair& pair, Naming& naming, const SplitCheck& split) {
  const auto event = [&](Instance at) {
    return event_of(pair, naming, kFailing, at, split.address, split.size);
  };
  Cause cause;
  cause.pattern = CausePattern::kBetween;
  if (const auto name = naming.memory(kFailing, split.later, split.address, split.size))
    cause.variable = name->name;
  cause.earlier = event(split.earlier);
  cause.remote = event(split.remote);
  cause.later = event(split.later);
  cause.use = *cause.later;
  cause.unordered = unordered(pair, split.earlier, split.remote, split.address) ||
                    unordered(pair, split.remote, split.later, split.address);
  cause.kind = cause.unordered ? CauseKind::kDataRace : CauseKind::kAtomicityViolation;
  return cause;
}

}  // namespace

void find_split(Laboratory& laboratory, Naming& naming, const Replay& failing, const Root& root,
                Explanation& result) {
  if (result.cause.pattern != CausePattern::kUseAfterFree || !root.freed.valid()) return;
  TracedPair& pair = laboratory.pair();
  for (const Instance at : {instance_of(root.use_failing), root.freed})
    for (const SplitCheck& one : split_checks(pair, at)) {
      const std::string by = party_name(pair, kFailing, one.remote.step);
      if ((by != result.cause.use.thread && by != result.cause.failing_source->thread) ||
          verdict_with_later_first(laboratory, failing, one.remote, one.later) != Verdict::kPass)
        continue;
      result.leads_to = std::exchange(result.cause, cause_of(pair, naming, one));
      return;
    }
}

void find_flag(Laboratory& laboratory, Naming& naming, const Replay& failing, const Root& root,
               Cause& cause) {
  if (cause.pattern != CausePattern::kTooEarly || cause.let_go || cause.beside || cause.check ||
      cause.timed_out || cause.omitted || is_unseen(root.from_passing))
    return;
  TracedPair& pair = laboratory.pair();
  const Instance there = instance_of(root.from_passing);
  const Instance here = pair.alignment().counterpart(kPassing, there);
  const Instance use = instance_of(root.use_failing);
  for (const EarlyFlag& one : here.valid() ? early_flags(pair, use, kFailing, here)
                                           : early_flags(pair, use, kPassing, there)) {
    const CauseEvent event = event_of(pair, naming, kFailing, one.write, one.address, one.size);
    const Location& missed = cause.passing_source->at;
    // What one line has done of its work lets nobody in.
    if (event.at.line == missed.line && event.at.file == missed.file) continue;
    if (verdict_with_later_first(laboratory, failing, one.write, one.read) != Verdict::kPass)
      continue;
    cause.let_go = event;
    cause.kind = CauseKind::kOrderViolation;
    return;
  }
}

}  // namespace clew
