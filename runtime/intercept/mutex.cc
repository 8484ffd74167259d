#include "runtime/intercept/call.h"
#include "runtime/sync/models.h"

using namespace clew::rt;

CLEW_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, mutex, mutex_can_be_taken}),
                  pthread_mutex_lock, mutex);
  return answer(mutex_lock(mutex, kForever, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kUpdate, mutex}), pthread_mutex_trylock, mutex);
  return answer(mutex_trylock(mutex, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, mutex}), pthread_mutex_timedlock, mutex,
                  ForKernel(CLOCK_REALTIME, until));
  return answer(mutex_lock(mutex, deadline_of(CLOCK_REALTIME, until), CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, mutex}), pthread_mutex_clocklock, mutex,
                  clock, ForKernel(clock, until));
  if (!is_wait_clock(clock)) return answer(EINVAL);
  return answer(mutex_lock(mutex, deadline_of(clock, until), CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kUnlock, mutex}), pthread_mutex_unlock, mutex);
  return answer(mutex_unlock(mutex));
}

CLEW_INTERPOSE int pthread_mutex_destroy(pthread_mutex_t* mutex) {
  CLEW_ENTER_WITH(destroys(mutex), pthread_mutex_destroy, mutex);
  return answer(mutex_destroy(mutex));
}

CLEW_INTERPOSE int pthread_mutex_consistent(pthread_mutex_t* mutex) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_mutex_consistent)(mutex);
  return answer(mutex_consistent(mutex));
}

CLEW_INTERPOSE int interposed_pthread_mutex_consistent_np(pthread_mutex_t* mutex) noexcept
    asm("clew_own_pthread_mutex_consistent_np");
int interposed_pthread_mutex_consistent_np(pthread_mutex_t* mutex) noexcept {
  return pthread_mutex_consistent(mutex);
}

CLEW_INTERPOSE int pthread_mutex_setprioceiling(pthread_mutex_t* mutex, int ceiling,
                                                int* before) noexcept {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, mutex, mutex_can_be_taken}),
                  pthread_mutex_setprioceiling, mutex, ceiling, before);
  return answer(mutex_set_ceiling(mutex, ceiling, before, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, lock, spin_can_be_taken}), pthread_spin_lock,
                  lock);
  return answer(spin_lock(lock, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kUpdate, lock}), pthread_spin_trylock, lock);
  return answer(spin_trylock(lock, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kUnlock, lock}), pthread_spin_unlock, lock);
  return answer(spin_unlock(lock));
}

CLEW_INTERPOSE int pthread_spin_destroy(pthread_spinlock_t* lock) {
  CLEW_ENTER_WITH(destroys(lock), pthread_spin_destroy, lock);
  return answer(0);  // as in glibc, which does not look at it
}
