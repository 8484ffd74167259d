#include "host/search/hunt_result.h"

#include "host/target/exit_status.h"

namespace clew {

bool nothing_resolved(const HuntResult& result) { return result.unresolved >= result.schedules; }

Outcome outcome_of(const HuntResult& result) {
  if (result.looked_for_passing) return result.passing ? Outcome::kPass : Outcome::kUnresolved;
  if (!result.failures.empty()) return Outcome::kFail;
  return nothing_resolved(result) ? Outcome::kUnresolved : Outcome::kPass;
}

int exit_status_of(const HuntResult& result) {
  if (result.looked_for_passing && result.passing) return 0;
  if (!result.failures.empty()) return 1;
  if (result.interrupted_by != 0) return 128 + result.interrupted_by;
  return result.looked_for_passing || nothing_resolved(result) ? kExitUnresolved : 0;
}

}  // namespace clew
