// Work that another thread does in the other run: a pool hands the same task to whoever is free. It is found by
// its content, the function that is called and the object that it is given, and aligned with itself
// (Weeratunge et al. 2010, section 3: the same request may be served by another thread).
#ifndef CLEW_HOST_EXPLAIN_MOVED_WORK_H_
#define CLEW_HOST_EXPLAIN_MOVED_WORK_H_

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "host/observe/run_trace.h"

namespace clew {

// What two runs call the same: an allocation, by the call that made it in the failing run.
using SameAllocation = std::function<Instance(Instance made_in_passing)>;

// One task: a call with all that it calls.
struct WorkItem {
  FrameIndex frame = kNoFrame;
  StepIndex end = kNoStep;  // behind its last step
};
struct MovedWork {
  // The same tasks in both runs; and those that only one of them has.
  std::vector<std::array<WorkItem, 2>> pairs;
  std::array<std::vector<WorkItem>, 2> alone;

  [[nodiscard]] bool empty() const { return pairs.empty(); }
};

// Tasks that come from a place at which at least one is done by another thread in the other run. A task is a
// call by a pointer, as of a std::function or of a virtual function, or one that is given an object of its own; its
// content comes once in each run. `threads` are those that are the same by their creation.
[[nodiscard]] MovedWork find_moved_work(
    const RunTrace& failing, const RunTrace& passing,
    const std::vector<std::pair<std::uint16_t, std::uint16_t>>& threads,
    const SameAllocation& in_failing);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_MOVED_WORK_H_
