// The small ones: spin lock, barrier, semaphore.
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "runtime/libc/real.h"
#include "runtime/outside/foreign.h"
#include "runtime/signal/cancel.h"
#include "runtime/sync/held.h"
#include "runtime/sync/models.h"

namespace clew::rt {
namespace {

// glibc's x86 convention, which pthread_spin_init writes.
constexpr int kSpinFree = 1;
constexpr int kSpinTaken = 0;

const void* address_of(const pthread_spinlock_t* lock) { return const_cast<const int*>(lock); }

bool take_spin(pthread_spinlock_t* lock) {
  int free = kSpinFree;
  return __atomic_compare_exchange_n(lock, &free, kSpinTaken, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

bool spin_is_free(const void* lock) { return *static_cast<const volatile int*>(lock) == kSpinFree; }

// A spin lock does not say whether it is shared. It is if no other thread of this process holds it:
// then only another process can unlock it.
bool has_foreign_holder(const pthread_spinlock_t* lock) {
  if (!g_other_processes) return false;
  bool ours = false;
  g_sched.threads.for_each_living([&](const Fiber& fiber) {
    ours |= &fiber != g_sched.current && holds(fiber, address_of(lock));
  });
  return !ours;
}

// glibc's flag for shared objects (LLL_SHARED).
constexpr int kShared = 128;

// Kept in the pthread_barrier_t. A shared one has glibc's layout: `round` counts the threads that
// have been let through, `in` and `out` those that came and left.
struct BarrierState {
  unsigned in;
  unsigned round;
  unsigned count;
  int shared;
  unsigned out;
};
static_assert(sizeof(BarrierState) <= sizeof(pthread_barrier_t));

BarrierState& state_of(pthread_barrier_t* barrier) {
  return *reinterpret_cast<BarrierState*>(barrier);
}

bool is_shared(const BarrierState& state) { return state.shared == kShared; }

// The number of arrivals is reset before it overflows.
unsigned last_before_reset(unsigned count) {
  return static_cast<unsigned>(INT_MAX) + 1 - (static_cast<unsigned>(INT_MAX) + 1) % count;
}

// glibc's algorithm (nptl/pthread_barrier_wait.c).
int wait_with_others(BarrierState& state) {
  g_sched.announce_sync(Synchronised::Kind::kReleases, &state);
  const unsigned count = state.count;
  const unsigned arrival = __atomic_add_fetch(&state.in, 1, __ATOMIC_SEQ_CST);
  const unsigned end_of_round = (arrival + count - 1) / count * count;
  if (arrival == end_of_round) {
    unsigned seen = __atomic_load_n(&state.round, __ATOMIC_SEQ_CST);
    while (seen < end_of_round &&
           !__atomic_compare_exchange_n(&state.round, &seen, end_of_round, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
    }
    g_sched.wake_all(&state);
    wake_others(&state.round, INT_MAX);
  }
  // Compared by arrivals, which are reset only when no thread is inside.
  while (__atomic_load_n(&state.round, __ATOMIC_SEQ_CST) < end_of_round)
    wait_for_others(abi::WaitKind::kBarrier, &state, kForever, kUndisturbed);
  g_sched.announce_sync(Synchronised::Kind::kAcquires, &state);
  const unsigned last = last_before_reset(count);
  if (__atomic_add_fetch(&state.out, 1, __ATOMIC_SEQ_CST) == last) {
    state.round = 0;
    state.out = 0;
    __atomic_store_n(&state.in, 0, __ATOMIC_SEQ_CST);
    wake_others(&state.in, INT_MAX);
  }
  return arrival == end_of_round ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

// glibc keeps the value in the low half of the first word, and behind it whether it is shared;
// sem_init, sem_open and sem_getvalue stay its own.
std::uint32_t& value_of(sem_t* semaphore) { return *reinterpret_cast<std::uint32_t*>(semaphore); }

bool is_shared(const sem_t* semaphore) {
  return reinterpret_cast<const int*>(semaphore)[2] == kShared;
}

bool is_positive(const void* semaphore) {
  return __atomic_load_n(static_cast<const std::uint32_t*>(semaphore), __ATOMIC_SEQ_CST) > 0;
}

}  // namespace

bool spin_can_be_taken(const Fiber& fiber) {
  return spin_is_free(reinterpret_cast<const void*>(fiber.reached.step.object));
}

bool semaphore_is_positive(const Fiber& fiber) {
  return is_positive(reinterpret_cast<const void*>(fiber.reached.step.object));
}

// A spin lock is modelled as one that blocks: spinning makes no progress.
int spin_lock(pthread_spinlock_t* lock, const void* caller) {
  while (!take_spin(lock)) {
    if (has_foreign_holder(lock)) {
      wait_for_others(abi::WaitKind::kSpin, address_of(lock), kForever, kUndisturbed);
    } else {
      g_sched.block(abi::WaitKind::kSpin, address_of(lock), kForever);
    }
  }
  hold(abi::WaitKind::kSpin, address_of(lock), caller);
  return 0;
}

int spin_trylock(pthread_spinlock_t* lock, const void* caller) {
  if (!take_spin(lock)) return EBUSY;
  hold(abi::WaitKind::kSpin, address_of(lock), caller);
  return 0;
}

int spin_unlock(pthread_spinlock_t* lock) {
  *lock = kSpinFree;
  release(address_of(lock));
  g_sched.wake_one(address_of(lock));
  return 0;
}

int barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                 unsigned count) {
  return CLEW_REAL(pthread_barrier_init)(barrier, attributes, count);
}

// A waiter does not look at the barrier again after it was woken: the thread that got
// PTHREAD_BARRIER_SERIAL_THREAD may already have destroyed it.
int barrier_wait(pthread_barrier_t* barrier) {
  BarrierState& state = state_of(barrier);
  if (is_shared(state)) return wait_with_others(state);
  // All arrivals happen before all departures: the last to arrive hands on what all have done.
  const void* const passed = reinterpret_cast<const char*>(barrier) + 1;
  g_sched.announce_sync(Synchronised::Kind::kReleases, barrier);
  if (++state.in < state.count) {
    g_sched.block(abi::WaitKind::kBarrier, barrier, kForever);
    g_sched.announce_sync(Synchronised::Kind::kAcquires, passed);
    return 0;
  }
  g_sched.announce_sync(Synchronised::Kind::kAcquires, barrier);
  g_sched.announce_sync(Synchronised::Kind::kReleases, passed);
  state.in = 0;
  g_sched.wake_all(barrier);
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

// glibc waits here until all have left; in this model they have left as soon as they may.
int barrier_destroy(pthread_barrier_t* barrier) {
  BarrierState& state = state_of(barrier);
  if (is_shared(state)) return natively(CLEW_REAL(pthread_barrier_destroy), barrier);
  return state.in == 0 ? 0 : EBUSY;
}

// A cancellation point whether or not it waits.
int semaphore_wait(sem_t* semaphore, Nanos deadline) {
  test_cancel();
  while (semaphore_trywait(semaphore) != 0) {
    if (const int error = before_wait(deadline)) return error;
    // With a deadline it is not restarted after a handler: the kernel's futex is not.
    const unsigned ended_by = (deadline == kForever ? kSignals : kSignalsAlways) | kCancel;
    const Woke woke =
        is_shared(semaphore)
            ? wait_for_others(abi::WaitKind::kSemaphore, semaphore, deadline, ended_by)
            : g_sched.block(abi::WaitKind::kSemaphore, semaphore, deadline, ended_by);
    if (woke == Woke::kByCancel) act_on_cancel();
    if (woke == Woke::kBySignal) return EINTR;
  }
  return 0;
}

int semaphore_trywait(sem_t* semaphore) {
  if (is_shared(semaphore)) {
    if (natively(CLEW_REAL(sem_trywait), semaphore) != 0) return EAGAIN;
  } else {
    if (value_of(semaphore) == 0) return EAGAIN;
    --value_of(semaphore);
  }
  g_sched.announce_sync(Synchronised::Kind::kAcquires, semaphore);
  return 0;
}

int semaphore_post(sem_t* semaphore) {
  if (value_of(semaphore) == SEM_VALUE_MAX) return EOVERFLOW;
  g_sched.announce_sync(Synchronised::Kind::kReleases, semaphore);
  if (is_shared(semaphore)) {
    natively(CLEW_REAL(sem_post), semaphore);
  } else {
    ++value_of(semaphore);
  }
  g_sched.wake_one(semaphore);
  return 0;
}

}  // namespace clew::rt
