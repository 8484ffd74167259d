#include "host/isolate/isolate_result.h"

#include "host/target/exit_status.h"

namespace clew {

Isolated how_far(const IsolateResult& result) {
  if (!result.switches.empty())
    return result.complete || result.minimal ? Isolated::kDone : Isolated::kNarrowed;
  return result.always_fails ? Isolated::kAlwaysFails : Isolated::kNothing;
}

Outcome outcome_of(const IsolateResult& result) {
  return how_far(result) == Isolated::kDone ? Outcome::kPass : Outcome::kUnresolved;
}

int exit_status_of(const IsolateResult& result) {
  if (result.interrupted_by != 0) return 128 + result.interrupted_by;
  return how_far(result) == Isolated::kDone ? 0 : kExitUnresolved;
}

}  // namespace clew
