#include "runtime/intercept/call.h"
#include "runtime/sync/models.h"

using namespace clew::rt;

CLEW_INTERPOSE int pthread_cond_destroy(pthread_cond_t* cond) {
  CLEW_ENTER_WITH(destroys(cond), pthread_cond_destroy, cond);
  return answer(cond_destroy(cond));
}

CLEW_INTERPOSE int pthread_cond_wait(pthread_cond_t* cond, pthread_mutex_t* mutex) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, cond}), pthread_cond_wait, cond, mutex);
  return answer(cond_wait(cond, mutex, kForever, CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* cond, pthread_mutex_t* mutex,
                                          const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, cond}), pthread_cond_timedwait, cond, mutex,
                  ForKernel(cond_clock(cond), until));
  return answer(cond_wait(cond, mutex, deadline_of(cond_clock(cond), until), CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* cond, pthread_mutex_t* mutex,
                                          clockid_t clock, const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, cond}), pthread_cond_clockwait, cond, mutex,
                  clock, ForKernel(clock, until));
  if (!is_wait_clock(clock)) return answer(EINVAL);
  return answer(cond_wait(cond, mutex, deadline_of(clock, until), CLEW_CALLER));
}

CLEW_INTERPOSE int pthread_cond_signal(pthread_cond_t* cond) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kSignal, cond}), pthread_cond_signal, cond);
  return answer(cond_signal(cond));
}

CLEW_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* cond) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kSignal, cond}), pthread_cond_broadcast, cond);
  return answer(cond_broadcast(cond));
}
