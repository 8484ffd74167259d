// The order of two events, changed by a schedule alone: what a schedule can produce is preferred to a value that
// is put in by hand, since no schedule may reach that state.
#ifndef CLEW_HOST_EXPLAIN_OTHER_ORDER_H_
#define CLEW_HOST_EXPLAIN_OTHER_ORDER_H_

#include <optional>

#include "host/explain/laboratory.h"
#include "host/explain/root_cause.h"

namespace clew {

// Runs the failing schedule with the events of the cause in the order of the passing run, and nothing else
// changed as far as it goes. True: a run was made in which they do come in that order, and it passes.
[[nodiscard]] bool passes_in_other_order(Laboratory& laboratory, const Replay& failing,
                                         const Root& root);

// Of a run with the failing schedule, changed so that the second of two events of the failing run, of two threads, comes before the
// first. Nothing: no run was made in which they come so.
[[nodiscard]] std::optional<Verdict> verdict_with_later_first(Laboratory& laboratory,
                                                              const Replay& failing, Instance first,
                                                              Instance second);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_OTHER_ORDER_H_
