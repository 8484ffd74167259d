// Whether two steps touch the same memory.
#ifndef CLEW_HOST_TRACE_OVERLAP_H_
#define CLEW_HOST_TRACE_OVERLAP_H_

#include <algorithm>
#include <cstdint>

#include "host/trace/trace.h"

namespace clew {

// A step whose size is not known touches a byte; one without an object touches nothing.
[[nodiscard]] inline bool overlap(const TraceStep& a, const TraceStep& b) {
  const std::uint64_t a_size = std::max<std::uint32_t>(a.size, 1);
  const std::uint64_t b_size = std::max<std::uint32_t>(b.size, 1);
  return a.object != 0 && b.object != 0 && a.object < b.object + b_size &&
         b.object < a.object + a_size;
}

}  // namespace clew

#endif  // CLEW_HOST_TRACE_OVERLAP_H_
