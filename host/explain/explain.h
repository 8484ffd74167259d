// Explanation: from the switch to the failure, step by step (Weeratunge et al. 2010).
#ifndef CLEW_HOST_EXPLAIN_EXPLAIN_H_
#define CLEW_HOST_EXPLAIN_EXPLAIN_H_

#include "host/error.h"
#include "host/explain/explanation.h"
#include "host/target/replay.h"

namespace clew {

[[nodiscard]] Result<Explanation> explain(const Replay& failing, const Replay& passing,
                                          RunObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_EXPLAIN_H_
