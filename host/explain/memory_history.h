// Who accessed a piece of memory in a run, in order, with the locks that were held and whether the
// access was atomic.
#ifndef CLEW_HOST_EXPLAIN_MEMORY_HISTORY_H_
#define CLEW_HOST_EXPLAIN_MEMORY_HISTORY_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "clew_abi/point.h"
#include "host/explain/traced_pair.h"

namespace clew {

struct MemoryAccess {
  Instance at;
  std::uint32_t access = 0;  // of the block; of one that frees: none
  bool writes = false;
  bool reads = false;
  bool frees = false;  // `at` is a call that ends the memory's life
};

// From the first access of [address, address + size) to the last, of what is seen.
[[nodiscard]] std::vector<MemoryAccess> history_of(const RunTrace& run, std::uint64_t address,
                                                   std::uint32_t size);

// The locks that the thread holds there, by their addresses. Who has one for reading does not keep others out who read.
enum class LockMode : std::uint8_t { kShared, kExclusive };
using HeldLocks = std::map<std::uint64_t, LockMode>;
[[nodiscard]] HeldLocks locks_at(const RunTrace& run, StepIndex step);
// Those of the first that keep a holder of the second out.
[[nodiscard]] std::set<std::uint64_t> excluding(const HeldLocks& first, const HeldLocks& second);

// The kind of the yield point that the access belongs to; kCount: none was seen.
[[nodiscard]] abi::PointKind point_kind_of(TracedPair& pair, WhichRun side, Instance at,
                                           std::uint64_t address);
// Whether the access belongs to a yield point of an atomic operation.
[[nodiscard]] bool is_atomic(TracedPair& pair, WhichRun side, Instance at, std::uint64_t address);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_MEMORY_HISTORY_H_
