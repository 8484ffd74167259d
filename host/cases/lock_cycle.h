// Threads that wait for each other's locks in a circle, at the end of a run that is deadlocked.
#ifndef CLEW_HOST_CASES_LOCK_CYCLE_H_
#define CLEW_HOST_CASES_LOCK_CYCLE_H_

#include <cstddef>
#include <vector>

#include "host/cases/lab.h"

namespace clew {

struct LockWait {
  std::size_t taken = 0;  // the step at which another thread took the lock
  TraceStep attempt;      // the locking that waits for it: it may be a step of a passing run alone
};

// One for each thread of the circle; nothing: there is none. Who is about to take a lock that is held
// may not have made that step, as in a run that was decided step by step: then a passing run, in which
// the thread has done the same until then, says what it is about to do.
[[nodiscard]] std::vector<LockWait> lock_cycle(const LabRun& failing,
                                               const std::vector<const LabRun*>& passing);

}  // namespace clew

#endif  // CLEW_HOST_CASES_LOCK_CYCLE_H_
