#include <errno.h>

#include "runtime/libc/real.h"
#include "runtime/outside/foreign.h"
#include "runtime/sync/held.h"
#include "runtime/sync/models.h"
#include "runtime/thread/thread_block.h"

namespace clew::rt {
namespace {

// glibc's fields: __readers holds the number of readers inside, __cur_writer the writer's number,
// __flags the preference (pthread_rwlockattr_setkind_np). A lock that other processes use is left
// to glibc: it is tried until it is acquired.
int self() { return g_sched.current->number; }
bool is_mine(const pthread_rwlock_t* lock) {
  return lock->__data.__cur_writer != 0 &&
         is_number_of(*g_sched.current, lock->__data.__cur_writer);
}

bool is_shared(const pthread_rwlock_t* lock) { return lock->__data.__shared != 0; }

bool writer_first(const pthread_rwlock_t* lock) {
  return lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

bool can_read(const pthread_rwlock_t* lock) {
  return lock->__data.__cur_writer == 0 && !(writer_first(lock) && lock->__data.__readers != 0 &&
                                             g_sched.has_waiter(lock, abi::WaitKind::kWriteLock));
}

bool can_write(const pthread_rwlock_t* lock) {
  return lock->__data.__cur_writer == 0 && lock->__data.__readers == 0;
}

void take_read(pthread_rwlock_t* lock, const void* caller) {
  ++lock->__data.__readers;
  hold(abi::WaitKind::kReadLock, lock, caller);
}

void take_write(pthread_rwlock_t* lock, const void* caller) {
  lock->__data.__cur_writer = self();
  hold(abi::WaitKind::kWriteLock, lock, caller);
}

using Attempt = int (*)(pthread_rwlock_t*);

int lock_shared(pthread_rwlock_t* lock, Attempt attempt, abi::WaitKind kind, Nanos deadline,
                const void* caller) {
  int error;
  while ((error = natively(attempt, lock)) == EBUSY) {
    if (const int late = before_wait(deadline)) return late;
    wait_for_others(kind, lock, deadline, kUndisturbed);
  }
  if (error == 0) hold(kind, lock, caller);
  return error;
}

int trylock_shared(pthread_rwlock_t* lock, Attempt attempt, abi::WaitKind kind,
                   const void* caller) {
  const int error = natively(attempt, lock);
  if (error == 0) hold(kind, lock, caller);
  return error;
}

}  // namespace

bool rwlock_can_be_read(const Fiber& fiber) {
  const auto* lock = reinterpret_cast<const pthread_rwlock_t*>(fiber.reached.step.object);
  return is_shared(lock) || can_read(lock);
}

bool rwlock_can_be_written(const Fiber& fiber) {
  const auto* lock = reinterpret_cast<const pthread_rwlock_t*>(fiber.reached.step.object);
  return is_shared(lock) || can_write(lock);
}

int rwlock_rdlock(pthread_rwlock_t* lock, Nanos deadline, const void* caller) {
  if (deadline == kInvalidDeadline) return EINVAL;
  if (is_mine(lock)) return EDEADLK;
  if (is_shared(lock))
    return lock_shared(lock, CLEW_REAL(pthread_rwlock_tryrdlock), abi::WaitKind::kReadLock,
                       deadline, caller);
  while (!can_read(lock)) {
    if (const int error = before_wait(deadline)) return error;
    g_sched.block(abi::WaitKind::kReadLock, lock, deadline);
  }
  if (lock->__data.__readers + 1 == 0) return EAGAIN;
  take_read(lock, caller);
  return 0;
}

int rwlock_tryrdlock(pthread_rwlock_t* lock, const void* caller) {
  if (is_shared(lock))
    return trylock_shared(lock, CLEW_REAL(pthread_rwlock_tryrdlock), abi::WaitKind::kReadLock,
                          caller);
  if (!can_read(lock)) return EBUSY;
  if (could_be_taken(lock) && g_sched.happens(abi::ChoiceKind::kTrylock)) return EBUSY;
  take_read(lock, caller);
  return 0;
}

int rwlock_wrlock(pthread_rwlock_t* lock, Nanos deadline, const void* caller) {
  if (deadline == kInvalidDeadline) return EINVAL;
  if (is_mine(lock)) return EDEADLK;
  if (is_shared(lock))
    return lock_shared(lock, CLEW_REAL(pthread_rwlock_trywrlock), abi::WaitKind::kWriteLock,
                       deadline, caller);
  while (!can_write(lock)) {
    if (const int error = before_wait(deadline)) {
      // A writer that gives up no longer keeps readers out.
      if (writer_first(lock)) g_sched.wake_all(lock);
      return error;
    }
    g_sched.block(abi::WaitKind::kWriteLock, lock, deadline);
  }
  take_write(lock, caller);
  return 0;
}

int rwlock_trywrlock(pthread_rwlock_t* lock, const void* caller) {
  if (is_shared(lock))
    return trylock_shared(lock, CLEW_REAL(pthread_rwlock_trywrlock), abi::WaitKind::kWriteLock,
                          caller);
  if (!can_write(lock)) return EBUSY;
  if (could_be_taken(lock) && g_sched.happens(abi::ChoiceKind::kTrylock)) return EBUSY;
  take_write(lock, caller);
  return 0;
}

int rwlock_unlock(pthread_rwlock_t* lock) {
  if (is_shared(lock)) {
    release(lock);
    natively(CLEW_REAL(pthread_rwlock_unlock), lock);
    g_sched.wake_all(lock);
    return 0;
  }
  if (lock->__data.__cur_writer != 0) {
    lock->__data.__cur_writer = 0;
  } else if (lock->__data.__readers != 0) {
    --lock->__data.__readers;
  } else {
    return EPERM;
  }
  release(lock);
  if (can_write(lock)) g_sched.wake_all(lock);
  return 0;
}

int rwlock_destroy(pthread_rwlock_t* lock) {
  if (is_shared(lock)) return natively(CLEW_REAL(pthread_rwlock_destroy), lock);
  return 0;  // as in glibc, which does not check whether it is held
}

}  // namespace clew::rt
