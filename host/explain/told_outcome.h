// What came of one call as the cause: an attempt that fails, a wait that ends too early. Told only if the run passes by a schedule alone in
// which that is different.
#ifndef CLEW_HOST_EXPLAIN_TOLD_OUTCOME_H_
#define CLEW_HOST_EXPLAIN_TOLD_OUTCOME_H_

#include <optional>
#include <vector>

#include "host/explain/explanation.h"
#include "host/explain/laboratory.h"
#include "host/explain/naming.h"

namespace clew {

struct ToldOutcome {
  Cause cause;
  Instance at;  // of the failing run
};

// `led`: what leads to the failure, by the slices; sorted.
[[nodiscard]] std::optional<ToldOutcome> find_outcome(Laboratory& laboratory, Naming& naming,
                                                      const Replay& failing, const Replay& passing,
                                                      const std::vector<NodeId>& led);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_TOLD_OUTCOME_H_
