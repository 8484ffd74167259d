// What became of the attempts to lock in a trace. A step is traced when the thread is about to take
// the lock: whether it gets it shows in what follows.
#ifndef CLEW_HOST_TRACE_LOCK_STEPS_H_
#define CLEW_HOST_TRACE_LOCK_STEPS_H_

#include <cstdint>
#include <vector>

#include "host/trace/trace.h"

namespace clew {

enum class LockStep : std::uint8_t {
  kNone,      // not an attempt to lock
  kObtained,  // nobody had it, as far as the trace shows
  kBlocked,   // another had it, and the thread did nothing until that one let go
  kUnclear,   // another had it, and yet the thread went on: shared with it, or a failed trylock
};

// One for each step.
[[nodiscard]] std::vector<LockStep> lock_steps(const Trace& trace);

}  // namespace clew

#endif  // CLEW_HOST_TRACE_LOCK_STEPS_H_
