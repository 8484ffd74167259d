// Runs that meet constraints, by scheduling alone: threads are held and let go, nothing else. The
// answer is "possible" only if a run was executed whose trace meets all of them, and "not possible"
// only with a reason that is a fact of the runs executed.
#ifndef CLEW_HOST_ENUMERATE_FORCE_H_
#define CLEW_HOST_ENUMERATE_FORCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/enumerate/constraint.h"
#include "host/enumerate/order_reason.h"
#include "host/error.h"
#include "host/search/hunt.h"

namespace clew {

enum class Possibility : std::uint8_t { kPossible, kImpossible, kOpen };

struct ForcedRun {
  std::uint64_t schedule = 0;              // its number among those of the search, from 1
  std::optional<std::uint64_t> recording;  // nothing: it could not be recorded
};

struct ForceOptions {
  // The program, limits (schedules, seconds), criteria, seed, workers. Without limits it ends when
  // every schedule was executed, which may be never.
  HuntOptions hunt;
  std::vector<Constraint> constraints;  // all are to be met in one run
  // Once one run meets them: how many more schedules are tried for one with the other verdict.
  std::uint64_t for_both = 64;
};

struct ForceResult {
  Possibility answer = Possibility::kOpen;
  OrderReason reason;                // kImpossible; kOpen: what is known, if anything
  std::size_t constraint = 0;        // that the reason is about
  std::optional<ForcedRun> failing;  // meets the constraints
  std::optional<ForcedRun> passing;  // likewise
  std::uint64_t schedules = 0;       // executed
  double seconds = 0;
  int interrupted_by = 0;
  std::vector<std::string> notes;
};

// Errors are faults of the set-up or of the machine.
[[nodiscard]] Result<ForceResult> force(const ForceOptions& options, RecordingStore& store,
                                        HuntObserver& observer, HuntInput input);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_FORCE_H_
