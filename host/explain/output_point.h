// Of a failure that only the output shows: the first byte in which the two runs' output differs, and who made it.
#ifndef CLEW_HOST_EXPLAIN_OUTPUT_POINT_H_
#define CLEW_HOST_EXPLAIN_OUTPUT_POINT_H_

#include <vector>

#include "host/explain/story.h"
#include "host/explain/traced_pair.h"
#include "host/target/replay.h"

namespace clew {

// What wrote the byte to the memory that was given to the call which put it out, then that call. In the passing
// run, if the failing one has put out less. Empty: the output is the same as far as it was kept, or the call was
// not seen.
[[nodiscard]] std::vector<PathNode> output_points(TracedPair& pair, const Replay& failing,
                                                  const Replay& passing);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_OUTPUT_POINT_H_
