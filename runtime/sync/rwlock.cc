#include <errno.h>

#include "runtime/sync/held.h"
#include "runtime/sync/models.h"

namespace clew::rt {
namespace {

// glibc's fields: __readers holds the number of readers inside, __cur_writer the
// writer's index + 1, __flags the preference (pthread_rwlockattr_setkind_np).
int self() { return static_cast<int>(g_sched.current->index) + 1; }

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

}  // namespace

bool rwlock_can_be_read(const Fiber& fiber) {
  return can_read(reinterpret_cast<const pthread_rwlock_t*>(fiber.step.object));
}

bool rwlock_can_be_written(const Fiber& fiber) {
  return can_write(reinterpret_cast<const pthread_rwlock_t*>(fiber.step.object));
}

int rwlock_rdlock(pthread_rwlock_t* lock, Nanos deadline, const void* caller) {
  if (lock->__data.__cur_writer == self()) return EDEADLK;
  while (!can_read(lock)) {
    if (const int error = before_wait(deadline)) return error;
    g_sched.block(abi::WaitKind::kReadLock, lock, deadline);
  }
  if (lock->__data.__readers + 1 == 0) return EAGAIN;
  take_read(lock, caller);
  return 0;
}

int rwlock_tryrdlock(pthread_rwlock_t* lock, const void* caller) {
  if (!can_read(lock)) return EBUSY;
  if (could_be_taken(lock) && g_sched.choose(abi::ChoiceKind::kTrylock) != 0) return EBUSY;
  take_read(lock, caller);
  return 0;
}

int rwlock_wrlock(pthread_rwlock_t* lock, Nanos deadline, const void* caller) {
  if (lock->__data.__cur_writer == self()) return EDEADLK;
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
  if (!can_write(lock)) return EBUSY;
  if (could_be_taken(lock) && g_sched.choose(abi::ChoiceKind::kTrylock) != 0) return EBUSY;
  take_write(lock, caller);
  return 0;
}

int rwlock_unlock(pthread_rwlock_t* lock) {
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

int rwlock_destroy(pthread_rwlock_t* lock) { return can_write(lock) ? 0 : EBUSY; }

}  // namespace clew::rt
