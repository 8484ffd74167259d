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
#include "host/error.h"
#include "host/search/hunt.h"

namespace clew {

enum class Possibility : std::uint8_t { kPossible, kImpossible, kOpen };

// Why something cannot be, or was not found.
struct OrderReason {
  enum class Kind : std::uint8_t {
    kNone,
    kNotExecuted,  // no run executed `place`
    kSameThread,   // one thread executes both, in the other order
    kCreate,       // the thread of one is created by the other's after it, at `place`
    kJoin,         // one thread is joined at `place` before the other event
    kBarrier,      // the barrier at `place` is between them
    kOverwritten,  // the write at `place` always comes between
    kSection,      // overwritten at `place` before the critical section ends, under the same lock
    kOwnWrite,     // the reader's section writes it at `place` before the read, under the same lock
    kExhausted,    // every schedule was executed, up to equivalence
  };
  Kind kind = Kind::kNone;
  abi::Place place = 0;
  abi::Place lock = 0;       // kSection, kOwnWrite: where the lock was taken
  std::uint64_t object = 0;  // kBarrier, kSection, kOwnWrite: the synchronisation object
  bool operator==(const OrderReason&) const = default;
};

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
