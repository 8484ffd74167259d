#include <errno.h>
#include <string.h>

#include "runtime/sched/scheduler.h"
#include "runtime/sched/sharing.h"
#include "runtime/sync/models.h"

namespace clew::rt {
namespace {

// In the room of a pthread_cond_t. All zero is PTHREAD_COND_INITIALIZER.
struct CondState {
  clockid_t clock;
};
static_assert(sizeof(CondState) <= sizeof(pthread_cond_t));
static_assert(CLOCK_REALTIME == 0);

}  // namespace

int cond_init(pthread_cond_t* cond, const pthread_condattr_t* attributes) {
  clockid_t clock = CLOCK_REALTIME;
  if (attributes != nullptr) pthread_condattr_getclock(attributes, &clock);
  memset(cond, 0, sizeof *cond);
  reinterpret_cast<CondState*>(cond)->clock = clock;
  return 0;
}

clockid_t cond_clock(const pthread_cond_t* cond) {
  return reinterpret_cast<const CondState*>(cond)->clock;
}

int cond_wait(pthread_cond_t* cond, pthread_mutex_t* mutex, Nanos deadline, const void* caller) {
  if (deadline == kInvalidDeadline) return EINVAL;
  if (const int error = mutex_unlock(mutex)) return error;
  // What is left to do once it is woken, or wakes without being asked.
  Fiber& self = *g_sched.current;
  self.step = {reinterpret_cast<std::uintptr_t>(mutex), self.step.place, 1, abi::StepKind::kLock};
  self.can_go_on = mutex_can_be_taken;
  bool woken = false;
  if (g_sched.has_company() && g_sched.choose(abi::ChoiceKind::kSpurious) != 0) {
    g_sched.yield_voluntarily();
    woken = true;
  } else if (deadline > g_sched.now()) {
    woken = g_sched.block(abi::WaitKind::kCondition, cond, deadline);
  }
  g_sharing.touch(self, self.step);
  if (const int error = mutex_lock(mutex, kForever, caller)) return error;
  return woken ? 0 : ETIMEDOUT;
}

int cond_signal(pthread_cond_t* cond) {
  g_sched.wake_one(cond);
  return 0;
}

int cond_broadcast(pthread_cond_t* cond) {
  g_sched.wake_all(cond);
  return 0;
}

// glibc waits here for waiters that have been signalled; ours no longer touch the object.
int cond_destroy(pthread_cond_t*) { return 0; }

}  // namespace clew::rt
