// The locks of an OpenMP program (omp_set_lock and its relatives, critical sections), as libomp
// tells of them (intercept/openmp.cc).
//
// A thread that waits for one in libomp makes no call, or a futex call whose purpose is not known.
// So it waits here first: once it resumes, libomp finds the lock free.
#ifndef CLEW_RUNTIME_SYNC_OPENMP_LOCKS_H_
#define CLEW_RUNTIME_SYNC_OPENMP_LOCKS_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

enum class OpenMpLocking : std::uint8_t {
  kOnce,    // by a thread that has it already: a deadlock
  kNested,  // any number of times by the same thread
};

// Whether the thread that is about to take `reached.step.object` would get it at once (Reached::can_proceed).
bool openmp_lock_is_free(const Fiber& fiber);

// Waits until the running thread can have the lock.
void wait_for_openmp_lock(const void* lock, OpenMpLocking locking);
// libomp has given it to the running thread; by a call that returns to `caller`.
void openmp_lock_taken(const void* lock, const void* caller);
void openmp_lock_released(const void* lock);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYNC_OPENMP_LOCKS_H_
