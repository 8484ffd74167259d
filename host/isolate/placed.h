// A failing script of one preemption, or of one item of a longer script and one preemption.
//
// What a search has found may get to the failure on a way of its own, with switches and choices that
// belong to that way alone; ddmin, which only takes away, does not leave it. So single preemptions are
// tried at the steps of the failing run, and of the run without switches, that conflict with what
// other threads do (the critical pairs), each with every thread as the target; then the same beside
// each item of the script.
#ifndef CLEW_HOST_ISOLATE_PLACED_H_
#define CLEW_HOST_ISOLATE_PLACED_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "host/error.h"
#include "host/isolate/script.h"
#include "host/isolate/trials.h"
#include "host/trace/trace.h"

namespace clew {

// The preemptions before steps of the trace that conflict with other threads', each thread as the
// target; first those at places where a thread has not been before. At most `most`.
[[nodiscard]] std::vector<ScriptItem> critical_preemptions(std::span<const TraceStep> trace,
                                                           std::size_t most);

// A script of one item, or of two if this one has more. Nothing: none that was tried fails, or it was
// stopped. REQUIRES: the script fails.
[[nodiscard]] Result<std::optional<ThreadScript>> placed_elsewhere(Trials& trials,
                                                                   const ThreadScript& script);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_PLACED_H_
