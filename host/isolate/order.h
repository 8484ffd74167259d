// The order that decides: among the events that come in one order in the failing run and in the
// other in the passing run, the two whose order makes the difference. Three questions are put to
// the program: what becomes of the failing run if they are swapped; whether anything else is
// swapped with them; and what other runs with either order do.
#ifndef CLEW_HOST_ISOLATE_ORDER_H_
#define CLEW_HOST_ISOLATE_ORDER_H_

#include <optional>

#include "host/error.h"
#include "host/isolate/experiment.h"
#include "host/isolate/narrowing.h"
#include "host/isolate/pair.h"
#include "host/isolate/source_view.h"

namespace clew {

// Fills in the pair of the experiment's result. Nothing: no order differs, or no run shows
// that it matters. The traces are of the two sides, from where they part or from before; `view` is of
// the failing one.
[[nodiscard]] Result<std::optional<EventPair>> find_order(Experiment& experiment,
                                                          const Narrowed& narrowed,
                                                          SourceView& view, const Trace& failing,
                                                          const Trace& passing);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_ORDER_H_
