// The order of two events, changed by a schedule alone: what a schedule can produce is preferred to a value that
// is put in by hand, since no schedule may reach that state.
#ifndef CLEW_HOST_EXPLAIN_OTHER_ORDER_H_
#define CLEW_HOST_EXPLAIN_OTHER_ORDER_H_

#include "host/explain/laboratory.h"
#include "host/explain/root_cause.h"

namespace clew {

// Runs the failing schedule with the events of the cause in the order of the passing run, and nothing else
// changed as far as it goes. True: a run was made in which they do come in that order, and it passes.
[[nodiscard]] bool passes_in_other_order(Laboratory& laboratory, const Replay& failing,
                                         const Root& root);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_OTHER_ORDER_H_
