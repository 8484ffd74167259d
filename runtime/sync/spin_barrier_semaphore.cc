// The small ones: spin lock, barrier, semaphore.
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "runtime/sync/held.h"
#include "runtime/sync/models.h"

namespace clew::rt {
namespace {

// glibc's x86 convention, which pthread_spin_init writes.
constexpr int kSpinFree = 1;
constexpr int kSpinTaken = 0;

// In the room of a pthread_barrier_t.
struct BarrierState {
  unsigned count;
  unsigned arrived;
};
static_assert(sizeof(BarrierState) <= sizeof(pthread_barrier_t));

// glibc keeps the value in the low half of the first word; sem_init, sem_open and
// sem_getvalue stay its own.
std::uint32_t& value_of(sem_t* semaphore) { return *reinterpret_cast<std::uint32_t*>(semaphore); }

}  // namespace

bool spin_can_be_taken(const Fiber& fiber) {
  return *reinterpret_cast<const volatile int*>(fiber.step.object) == kSpinFree;
}

bool semaphore_is_positive(const Fiber& fiber) {
  return *reinterpret_cast<const std::uint32_t*>(fiber.step.object) > 0;
}

// A spin lock is modelled as one that blocks: nobody can get on by spinning.
int spin_lock(pthread_spinlock_t* lock, const void* caller) {
  while (*lock != kSpinFree)
    g_sched.block(abi::WaitKind::kSpin, const_cast<const int*>(lock), kForever);
  *lock = kSpinTaken;
  hold(abi::WaitKind::kSpin, const_cast<const int*>(lock), caller);
  return 0;
}

int spin_trylock(pthread_spinlock_t* lock, const void* caller) {
  return *lock == kSpinFree ? spin_lock(lock, caller) : EBUSY;
}

int spin_unlock(pthread_spinlock_t* lock) {
  *lock = kSpinFree;
  release(const_cast<const int*>(lock));
  g_sched.wake_one(const_cast<const int*>(lock));
  return 0;
}

int barrier_init(pthread_barrier_t* barrier, unsigned count) {
  if (count == 0 || count > INT_MAX) return EINVAL;
  memset(barrier, 0, sizeof *barrier);
  reinterpret_cast<BarrierState*>(barrier)->count = count;
  return 0;
}

// A waiter does not look at the barrier again after it was woken: the thread that got
// PTHREAD_BARRIER_SERIAL_THREAD may already have destroyed it.
int barrier_wait(pthread_barrier_t* barrier) {
  auto* state = reinterpret_cast<BarrierState*>(barrier);
  if (++state->arrived < state->count) {
    g_sched.block(abi::WaitKind::kBarrier, barrier, kForever);
    return 0;
  }
  state->arrived = 0;
  g_sched.wake_all(barrier);
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

int barrier_destroy(pthread_barrier_t* barrier) {
  return reinterpret_cast<BarrierState*>(barrier)->arrived == 0 ? 0 : EBUSY;
}

int semaphore_wait(sem_t* semaphore, Nanos deadline) {
  while (value_of(semaphore) == 0) {
    if (const int error = before_wait(deadline)) return error;
    g_sched.block(abi::WaitKind::kSemaphore, semaphore, deadline);
  }
  --value_of(semaphore);
  return 0;
}

int semaphore_trywait(sem_t* semaphore) {
  if (value_of(semaphore) == 0) return EAGAIN;
  --value_of(semaphore);
  return 0;
}

int semaphore_post(sem_t* semaphore) {
  if (value_of(semaphore) == SEM_VALUE_MAX) return EOVERFLOW;
  ++value_of(semaphore);
  g_sched.wake_one(semaphore);
  return 0;
}

}  // namespace clew::rt
