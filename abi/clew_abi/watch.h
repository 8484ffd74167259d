// What a run is watched for (`--watch`, `--listener`): which of it, and what is found.
#ifndef CLEW_ABI_WATCH_H_
#define CLEW_ABI_WATCH_H_

#include <cstdint>

#include "clew_abi/control.h"
#include "clew_abi/stream.h"

namespace clew::abi {

// kind, word for the command line and JSON, the failure that it is if it counts as one
#define CLEW_FINDING_KINDS(X)             \
  X(kRace, "race", kRace)                 \
  X(kLockOrder, "lock-order", kLockOrder) \
  X(kMemory, "memory", kMemory)           \
  X(kListener, "listener", kListener) /* whatever a loaded library reports */

enum class FindingKind : std::uint8_t {
#define CLEW_KIND(name, text, failure) name,
  CLEW_FINDING_KINDS(CLEW_KIND)
#undef CLEW_KIND
      kCount
};

constexpr FailureKind failure_of(FindingKind kind) {
  constexpr FailureKind kFailures[] = {
#define CLEW_KIND(name, text, failure) FailureKind::failure,
      CLEW_FINDING_KINDS(CLEW_KIND)
#undef CLEW_KIND
  };
  return kFailures[static_cast<unsigned>(kind)];
}

// Bits of Control::flags: what is watched for, and which findings end the run as failures. The
// findings of a library always count: it says itself which of them do.
constexpr std::uint32_t watch_flag(FindingKind kind) {
  return std::uint32_t{1} << (16 + static_cast<unsigned>(kind));
}
constexpr std::uint32_t fails_flag(FindingKind kind) {
  return std::uint32_t{1} << (20 + static_cast<unsigned>(kind));
}
inline constexpr std::uint32_t kAllWatchFlags = 0xffu << 16;

// What a thread did at one of the places of a finding.
#define CLEW_FINDING_ACTIONS(X)        \
  X(kNothing, "")                      \
  X(kRead, "reads")                    \
  X(kWrite, "writes")                  \
  X(kAtomicRead, "reads atomically")   \
  X(kAtomicWrite, "writes atomically") \
  X(kFree, "frees")                    \
  X(kAllocate, "allocates")            \
  X(kLock, "takes")                    \
  X(kReport, "is at")

enum class FindingAction : std::uint8_t {
#define CLEW_KIND(name, text) name,
  CLEW_FINDING_ACTIONS(CLEW_KIND)
#undef CLEW_KIND
      kCount
};

enum class FindingSeverity : std::uint8_t { kNote, kWarning, kError, kCount };

// kFinding: v FindingKind, v FindingSeverity, v address (0: none), v size, s name of the kind
// (listener), s text (listener), v number of sites, and for each:
//   v FindingAction, v thread, v clock (events passed, this one included; 0: not an event), v place,
//   v object, v size, v number of locks held, for each: v WaitKind, v object
// A race has two sites, the earlier first; a cycle of locks one for each lock, which is taken there
// while the one of the site before is held; a misuse of memory those of the access or release, of the
// release before, and, if it is known, of the allocation.
inline constexpr std::uint64_t kMaxFindingSites = 8;
inline constexpr std::uint64_t kMaxFindingLocks = 16;
// More different ones are not reported.
inline constexpr std::uint32_t kMaxFindings = 100;

}  // namespace clew::abi

#endif  // CLEW_ABI_WATCH_H_
