// Steps of a trace that are no events of their own: a thread that has waited is picked, and the step
// that it waited in is noted once more.
#ifndef CLEW_HOST_ENUMERATE_RESUMPTIONS_H_
#define CLEW_HOST_ENUMERATE_RESUMPTIONS_H_

#include <span>
#include <vector>

#include "host/trace/trace.h"

namespace clew {

// For each step whether it is one. Its number is that of the event that comes next.
[[nodiscard]] std::vector<bool> resumptions(std::span<const TraceStep> trace);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_RESUMPTIONS_H_
