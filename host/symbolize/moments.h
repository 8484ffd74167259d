// Query mode (Choi and Zeller 2002, section 3): where every thread stands at a clock.
#ifndef CLEW_HOST_SYMBOLIZE_MOMENTS_H_
#define CLEW_HOST_SYMBOLIZE_MOMENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"

namespace clew {

struct ThreadPosition {
  ThreadIndex thread = 0;
  std::optional<Location> at;  // nothing: the thread has not started, or there are no symbols
  std::vector<SourceFrame> stack;
};

struct Moment {
  std::uint64_t clock = 0;
  std::optional<ThreadPosition> running;
  std::vector<ThreadPosition> others;
};

// One for each clock asked for, in this order. A clock that the run never reached has no running
// thread.
std::vector<Moment> moments(const RunResult& run, const std::vector<std::uint64_t>& clocks,
                            Symbolizer& symbols);

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_MOMENTS_H_
