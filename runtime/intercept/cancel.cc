// pthread_cancel and what a thread says about it.
#include "runtime/signal/cancel.h"

#include "runtime/intercept/call.h"
#include "runtime/intercept/thread.h"

using namespace clew::rt;

namespace {

void act_if_asynchronous(const Fiber& self) {
  if (cancel_wanted(self) && cancels_at_once(self)) act_on_cancel();
}

}  // namespace

CLEW_INTERPOSE int pthread_cancel(pthread_t handle) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kSignal, thread_object(handle)}), pthread_cancel,
                  handle);
  Fiber* fiber = g_sched.threads.find(handle);
  if (fiber == nullptr) return answer(ESRCH);
  if (fiber->state == FiberState::kFinished) return answer(0);
  fiber->cancellation.pending = true;
  if (fiber == g_sched.current) {
    act_if_asynchronous(*fiber);
  } else if (cancel_wanted(*fiber)) {
    g_sched.disturb(fiber);
  }
  return answer(0);
}

CLEW_INTERPOSE int pthread_setcancelstate(int state, int* before) {
  if (!g_sched.active) return CLEW_REAL(pthread_setcancelstate)(state, before);
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
  Fiber& self = *g_sched.current;
  if (before != nullptr)
    *before = self.cancellation.disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
  self.cancellation.disabled = state == PTHREAD_CANCEL_DISABLE;
  act_if_asynchronous(self);
  return 0;
}

CLEW_INTERPOSE int pthread_setcanceltype(int type, int* before) {
  if (!g_sched.active) return CLEW_REAL(pthread_setcanceltype)(type, before);
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) return EINVAL;
  Fiber& self = *g_sched.current;
  if (before != nullptr)
    *before =
        self.cancellation.asynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
  self.cancellation.asynchronous = type == PTHREAD_CANCEL_ASYNCHRONOUS;
  act_if_asynchronous(self);
  return 0;
}

CLEW_INTERPOSE void pthread_testcancel() {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, thread_object(pthread_self())}),
                  pthread_testcancel);
  test_cancel();
}
