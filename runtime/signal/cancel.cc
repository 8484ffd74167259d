#include "runtime/signal/cancel.h"

#include "runtime/sched/scheduler.h"
#include "runtime/thread/life.h"

namespace clew::rt {

// The waits of the thread are removed now, so that none of them takes a wake-up that is meant for
// another thread.
void act_on_cancel() {
  Fiber& self = *g_sched.current;
  self.guarded = false;
  self.result = PTHREAD_CANCELED;
  g_sched.abandon_waits_below(UINTPTR_MAX, UINTPTR_MAX);
  g_thread_life.unwind();
  __builtin_unreachable();
}

void test_cancel() {
  if (CLEW_UNLIKELY(cancel_wanted(*g_sched.current))) act_on_cancel();
}

}  // namespace clew::rt
