// What calls of the run mean for synchronisation.
#ifndef CLEW_HOST_EXPLAIN_SYNC_CALLS_H_
#define CLEW_HOST_EXPLAIN_SYNC_CALLS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "clew_abi/point.h"
#include "host/model/code_map.h"
#include "host/observe/run_trace.h"

namespace clew {

enum class SyncKind : std::uint8_t {
  kNone,
  kLock,
  kCondition,
  kSemaphore,
  kFutex,
  kBarrier,
  kSignal,  // of the system; all have one object
  kJoin
};
enum class SyncStep : std::uint8_t { kNone, kTakes, kReleases, kWaits, kWakes };

struct SyncCall {
  SyncKind kind = SyncKind::kNone;
  SyncStep step = SyncStep::kNone;
  std::uint64_t object = 0;
};

[[nodiscard]] bool is_one_of(std::span<const std::string_view> names, std::string_view name);

// An attempt to lock that has failed is none.
[[nodiscard]] SyncCall sync_call(const OutsideCall& call);

// Lets time pass, and orders nothing.
[[nodiscard]] bool is_sleep(const OutsideCall& call);
// It is a wait with a limit, and has reached it.
[[nodiscard]] bool timed_out(const OutsideCall& call);
// Likewise; why a futex or a wait for descriptors has ended is looked for behind the call.
[[nodiscard]] bool timed_out(const RunTrace& run, const OutsideCall& call);
// It may have: a wait on a futex with a limit that fails, why, it leaves in errno; one for descriptors that finds none ready.
[[nodiscard]] bool may_have_timed_out(const OutsideCall& call);

// The kind of the yield point whose hook the call is; kCount: it is none.
[[nodiscard]] abi::PointKind point_kind(CodeMap& code, const OutsideCall& call);
[[nodiscard]] bool is_atomic(abi::PointKind kind);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_SYNC_CALLS_H_
