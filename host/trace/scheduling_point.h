// Which steps of a trace are scheduling points.
#ifndef CLEW_HOST_TRACE_SCHEDULING_POINT_H_
#define CLEW_HOST_TRACE_SCHEDULING_POINT_H_

#include "host/trace/trace.h"

namespace clew {

// Whether a strategy was asked who runs: not for what a thread does while it is alone, which is in
// traces of jobs with a window all the same.
constexpr bool is_point(const TraceStep& step) { return step.enabled != 0; }

}  // namespace clew

#endif  // CLEW_HOST_TRACE_SCHEDULING_POINT_H_
