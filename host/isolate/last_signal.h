// Why nobody wakes a thread that waits for a condition variable in the end.
#ifndef CLEW_HOST_ISOLATE_LAST_SIGNAL_H_
#define CLEW_HOST_ISOLATE_LAST_SIGNAL_H_

#include <vector>

#include "host/isolate/isolate_result.h"
#include "host/isolate/source_view.h"
#include "host/trace/trace.h"

namespace clew {

// Adds the last signal to each wait for a condition variable, and whom it woke instead.
// REQUIRES: the trace is all of the run.
void tell_signals(std::vector<WaitInfo>& waits, SourceView& view, const Trace& trace);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_LAST_SIGNAL_H_
