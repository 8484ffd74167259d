// Two steps of one thread that belong together, and another thread that comes between them, each access of other memory or of the same: what the
// other has done lies behind the first and before the last of them, so that no order of the two, one after the other as wholes, explains it
// (conflict serialisability; Papadimitriou 1979).
#ifndef CLEW_HOST_EXPLAIN_SPLIT_REGION_H_
#define CLEW_HOST_EXPLAIN_SPLIT_REGION_H_

#include <cstdint>
#include <optional>

#include "host/explain/traced_pair.h"

namespace clew {

struct SplitRegion {
  struct Access {
    Instance at;
    std::uint64_t address = 0;
    std::uint32_t size = 0;
  };
  Access first;         // of the thread that is interrupted
  Access last;          // likewise
  Access behind_first;  // of the other: conflicts with the first, and comes behind it
  Access before_last;   // of the other: conflicts with the last, and comes before it
};

// Of the failing run: `early` and `late` are accesses of the memory by two threads, in this order. Finds two others, of other memory,
// that come in the opposite order: of those, the pair that is nearest to these two. Both threads' accesses must lie in one call of a function
// of the user's, and in one round of its loops.
[[nodiscard]] std::optional<SplitRegion> find_split(TracedPair& pair, Instance early, Instance late,
                                                    std::uint64_t address, std::uint32_t size);

// Of two steps of one thread: whether it holds a lock at both that it has not released in between.
[[nodiscard]] bool in_one_section(const RunTrace& run, StepIndex early, StepIndex late);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_SPLIT_REGION_H_
