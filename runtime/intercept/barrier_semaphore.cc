#include "runtime/intercept/call.h"
#include "runtime/sync/models.h"

using namespace clew::rt;

CLEW_INTERPOSE int pthread_barrier_init(pthread_barrier_t* barrier,
                                        const pthread_barrierattr_t* attributes, unsigned count) {
  if (!g_sched.active) return CLEW_REAL(pthread_barrier_init)(barrier, attributes, count);
  return answer(barrier_init(barrier, attributes, count));
}

CLEW_INTERPOSE int pthread_barrier_destroy(pthread_barrier_t* barrier) {
  CLEW_ENTER_WITH(destroys(barrier), pthread_barrier_destroy, barrier);
  return answer(barrier_destroy(barrier));
}

CLEW_INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, barrier}), pthread_barrier_wait, barrier);
  return answer(barrier_wait(barrier));
}

CLEW_INTERPOSE int sem_wait(sem_t* semaphore) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, semaphore, semaphore_is_positive}), sem_wait,
                  semaphore);
  return answer_errno(semaphore_wait(semaphore, kForever));
}

CLEW_INTERPOSE int sem_trywait(sem_t* semaphore) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kUpdate, semaphore}), sem_trywait, semaphore);
  return answer_errno(semaphore_trywait(semaphore));
}

namespace {

// Unlike for a lock, the time must be valid even if the call does not wait.
int semaphore_timedwait(sem_t* semaphore, Nanos deadline) {
  return deadline == kInvalidDeadline ? EINVAL : semaphore_wait(semaphore, deadline);
}

}  // namespace

CLEW_INTERPOSE int sem_timedwait(sem_t* semaphore, const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, semaphore}), sem_timedwait, semaphore,
                  ForKernel(CLOCK_REALTIME, until));
  return answer_errno(semaphore_timedwait(semaphore, deadline_of(CLOCK_REALTIME, until)));
}

CLEW_INTERPOSE int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, semaphore}), sem_clockwait, semaphore, clock,
                  ForKernel(clock, until));
  if (!is_wait_clock(clock)) return answer_errno(EINVAL);
  return answer_errno(semaphore_timedwait(semaphore, deadline_of(clock, until)));
}

CLEW_INTERPOSE int sem_post(sem_t* semaphore) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kSignal, semaphore}), sem_post, semaphore);
  return answer_errno(semaphore_post(semaphore));
}

CLEW_INTERPOSE int sem_destroy(sem_t* semaphore) {
  CLEW_ENTER_WITH(destroys(semaphore), sem_destroy, semaphore);
  return answer_errno(0);  // as in glibc, which does not look at it
}
