#include "runtime/intercept/call.h"
#include "runtime/sync/models.h"

using namespace clew::rt;

CLEW_INTERPOSE int pthread_rwlock_destroy(pthread_rwlock_t* lock) {
  CLEW_ENTER_WITH(destroys(lock), pthread_rwlock_destroy, lock);
  return answer(rwlock_destroy(lock));
}

CLEW_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, lock, rwlock_can_be_read}),
                  pthread_rwlock_rdlock, lock);
  return answer(rwlock_rdlock(lock, kForever, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kUpdate, lock}), pthread_rwlock_tryrdlock, lock);
  return answer(rwlock_tryrdlock(lock, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, lock}), pthread_rwlock_timedrdlock, lock,
                  ForKernel(CLOCK_REALTIME, until));
  return answer(rwlock_rdlock(lock, deadline_of(CLOCK_REALTIME, until), CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, lock}), pthread_rwlock_clockrdlock, lock,
                  clock, ForKernel(clock, until));
  if (!is_wait_clock(clock)) return answer(EINVAL);
  return answer(rwlock_rdlock(lock, deadline_of(clock, until), CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, lock, rwlock_can_be_written}),
                  pthread_rwlock_wrlock, lock);
  return answer(rwlock_wrlock(lock, kForever, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kUpdate, lock}), pthread_rwlock_trywrlock, lock);
  return answer(rwlock_trywrlock(lock, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, lock}), pthread_rwlock_timedwrlock, lock,
                  ForKernel(CLOCK_REALTIME, until));
  return answer(rwlock_wrlock(lock, deadline_of(CLOCK_REALTIME, until), CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kLock, lock}), pthread_rwlock_clockwrlock, lock,
                  clock, ForKernel(clock, until));
  if (!is_wait_clock(clock)) return answer(EINVAL);
  return answer(rwlock_wrlock(lock, deadline_of(clock, until), CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kUnlock, lock}), pthread_rwlock_unlock, lock);
  return answer(rwlock_unlock(lock));
}
