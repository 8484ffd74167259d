// Where a story ends: the instance of the failing run at which the failure shows.
#ifndef CLEW_HOST_EXPLAIN_CRITERION_H_
#define CLEW_HOST_EXPLAIN_CRITERION_H_

#include <cstdint>
#include <vector>

#include "host/explain/traced_pair.h"
#include "host/outcome.h"

namespace clew {

// In the order in which they are worth looking at. Empty: it shows nowhere that was seen.
[[nodiscard]] std::vector<NodeId> failure_points(TracedPair& pair, const Failure& failure);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_CRITERION_H_
