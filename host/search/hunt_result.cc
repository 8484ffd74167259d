#include "host/search/hunt_result.h"

#include "host/target/exit_status.h"

namespace clew {

namespace {

// If none of n schedules fails, then fewer than 3 / n of all do, with a confidence of 95 % (the rule
// of three): with fewer than this, a failure in one of 30 may have been missed.
constexpr std::uint64_t kFewSchedules = 100;

}  // namespace

Confidence confidence_in(const HuntResult& result) {
  if (result.unresolved != 0) return Confidence::kUnresolved;
  const bool all = result.complete || result.single_threaded;
  return all || result.schedules >= kFewSchedules ? Confidence::kFull : Confidence::kFew;
}

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
