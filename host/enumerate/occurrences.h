// Events of a run by how often their thread has come to them.
#ifndef CLEW_HOST_ENUMERATE_OCCURRENCES_H_
#define CLEW_HOST_ENUMERATE_OCCURRENCES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "host/trace/trace.h"

namespace clew {

// For each step the position of the event in its thread, at this place, from 1.
[[nodiscard]] std::vector<std::uint64_t> occurrences(std::span<const TraceStep> trace);

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_OCCURRENCES_H_
