// The phases of several runs as one.
#ifndef CLEW_HOST_CALLS_WHOLE_COUNTS_H_
#define CLEW_HOST_CALLS_WHOLE_COUNTS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "host/calls/call_edge.h"
#include "host/calls/feature_table.h"

namespace clew {

// What comes at the end in some runs and earlier in others is not the end: threads have only ended earlier there. It
// counts with the rest. REQUIRES: `feature_of` is of the same edges.
[[nodiscard]] FeatureTable with_whole_counts(
    const FeatureTable& table, const std::vector<CallEdge>& edges,
    const std::unordered_map<CallEdge, std::uint64_t, CallEdgeHash>& feature_of);

}  // namespace clew

#endif  // CLEW_HOST_CALLS_WHOLE_COUNTS_H_
