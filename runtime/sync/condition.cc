// Condition variables. The object itself holds nothing but glibc's flags: waiters are the
// scheduler's.
#include <errno.h>

#include "runtime/libc/real.h"
#include "runtime/outside/foreign.h"
#include "runtime/record/end.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/cancel.h"
#include "runtime/sync/models.h"

namespace clew::rt {
namespace {

// Bits of glibc's __wrefs, which pthread_cond_init writes.
constexpr unsigned kShared = 1;
constexpr unsigned kMonotonic = 2;
// Its mark of one that pthread_cond_destroy has been called for. pthread_cond_init and static
// initialisers clear it, and nothing else sets it.
constexpr unsigned kDestroyed = 4;

// Bits of waits (Wait::bits).
constexpr std::uint32_t kWaits = 1;
constexpr std::uint32_t kDestroys = 2;

bool is_shared(const pthread_cond_t* cond) { return (cond->__data.__wrefs & kShared) != 0; }

// What it is used for then is up to what the memory holds by now.
void refuse_destroyed(const pthread_cond_t* cond, const char* what) {
  if (CLEW_UNLIKELY((cond->__data.__wrefs & kDestroyed) != 0)) end_misuse(what);
}

Woke wait(pthread_cond_t* cond, bool shared, Nanos deadline) {
  if (cancel_wanted(*g_sched.current)) return Woke::kByCancel;
  if (g_sched.threads.has_company() && g_sched.happens(abi::ChoiceKind::kSpurious)) {
    g_sched.yield_voluntarily();
    return Woke::kByObject;
  }
  if (deadline <= g_sched.now()) {
    // The mutex is free for a moment, as it is natively: whoever waits for it can have it.
    g_sched.yield_voluntarily();
    return Woke::kByTime;
  }
  if (!shared) {
    Wait wait;
    wait.kind = abi::WaitKind::kCondition;
    wait.object = cond;
    wait.bits = kWaits;
    const Woke woke = g_sched.block(wait, deadline, kCancel);
    g_sched.wake_one(cond, kDestroys);
    return woke;
  }
  // The runtime is not told when another process signals: the wait wakes up spuriously, as waits
  // may, and the program checks its condition.
  return wait_for_others(abi::WaitKind::kCondition, cond, deadline, kCancel);
}

}  // namespace

clockid_t cond_clock(const pthread_cond_t* cond) {
  return (cond->__data.__wrefs & kMonotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int cond_wait(pthread_cond_t* cond, pthread_mutex_t* mutex, Nanos deadline, const void* caller) {
  if (deadline == kInvalidDeadline) return EINVAL;
  refuse_destroyed(cond, "a wait for a condition variable that has been destroyed");
  // Afterwards the object may be signalled, destroyed and used for something else.
  const bool shared = is_shared(cond);
  if (const int error = mutex_unlock_for_wait(mutex)) return error;
  // What the thread does next once it is woken, by a signal or spuriously.
  Fiber& self = *g_sched.current;
  g_sched.reach_uncounted(
      {self.reached.place,
       {reinterpret_cast<std::uintptr_t>(mutex), self.reached.step.place, 1, abi::StepKind::kLock},
       mutex_can_be_taken});
  const Woke woke = wait(cond, shared, deadline);
  g_sched.announce(self.reached.step, Scheduler::Counted::kNo);
  const int error = mutex_lock_after_wait(mutex, caller);
  // A cleanup handler finds the mutex locked.
  if (woke == Woke::kByCancel) act_on_cancel();
  if (error != 0) return error;
  return woke == Woke::kByTime ? ETIMEDOUT : 0;
}

int cond_signal(pthread_cond_t* cond) {
  refuse_destroyed(cond, "pthread_cond_signal of a condition variable that has been destroyed");
  g_sched.wake_one(cond, kWaits);
  return is_shared(cond) ? natively(CLEW_REAL(pthread_cond_signal), cond) : 0;
}

int cond_broadcast(pthread_cond_t* cond) {
  refuse_destroyed(cond, "pthread_cond_broadcast of a condition variable that has been destroyed");
  g_sched.wake_all(cond);
  return is_shared(cond) ? natively(CLEW_REAL(pthread_cond_broadcast), cond) : 0;
}

// glibc waits here until all waiters have left, those that nobody has signalled too. Ours no longer
// touch the object once they are signalled.
int cond_destroy(pthread_cond_t* cond) {
  if (is_shared(cond)) return natively(CLEW_REAL(pthread_cond_destroy), cond);
  while (g_sched.has_waiter(cond, abi::WaitKind::kCondition)) {
    Wait wait;
    wait.kind = abi::WaitKind::kCondition;
    wait.object = cond;
    wait.bits = kDestroys;
    g_sched.block(wait, kForever, kUndisturbed);
  }
  cond->__data.__wrefs |= kDestroyed;
  return 0;
}

}  // namespace clew::rt
