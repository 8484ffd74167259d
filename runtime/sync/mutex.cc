#include <errno.h>

#include "runtime/record/end.h"
#include "runtime/sched/sharing.h"
#include "runtime/sync/held.h"
#include "runtime/sync/models.h"

namespace clew::rt {
namespace {

// Bits of glibc's __kind.
constexpr int kTypeMask = 3;
constexpr int kRobust = 16;
constexpr int kPriorityProtect = 64;
constexpr int kDestroyed = -1;  // what pthread_mutex_destroy leaves

int type_of(const pthread_mutex_t* mutex) {
  const int kind = mutex->__data.__kind;
  if (kind < 0) return kDestroyed;
  if (kind & kRobust) end_unsupported("robust mutexes");
  if (kind & kPriorityProtect) end_unsupported("priority-protected mutexes");
  return kind & kTypeMask;
}

int self() { return static_cast<int>(g_sched.current->index) + 1; }

void take(pthread_mutex_t* mutex, const void* caller) {
  mutex->__data.__lock = 1;
  mutex->__data.__owner = self();
  mutex->__data.__count = 1;
  hold(abi::WaitKind::kMutex, mutex, caller);
}

}  // namespace

bool mutex_can_be_taken(const Fiber& fiber) {
  const auto* mutex = reinterpret_cast<const pthread_mutex_t*>(fiber.step.object);
  if (mutex->__data.__lock == 0) return true;
  const int type = mutex->__data.__kind & kTypeMask;
  return mutex->__data.__owner == static_cast<int>(fiber.index) + 1 &&
         (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK);
}

int mutex_lock(pthread_mutex_t* mutex, Nanos deadline, const void* caller) {
  const int type = type_of(mutex);
  if (type == kDestroyed) return EINVAL;
  if (mutex->__data.__lock != 0 && mutex->__data.__owner == self()) {
    if (type == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
    if (type == PTHREAD_MUTEX_RECURSIVE) {
      if (mutex->__data.__count + 1 == 0) return EAGAIN;
      ++mutex->__data.__count;
      return 0;
    }
  }
  bool waited = false;
  while (mutex->__data.__lock != 0) {
    if (const int error = before_wait(deadline)) return error;
    g_sched.block(abi::WaitKind::kMutex, mutex, deadline);
    waited = true;
  }
  if (waited) g_sharing.touch(*g_sched.current, g_sched.current->step);
  take(mutex, caller);
  return 0;
}

int mutex_trylock(pthread_mutex_t* mutex, const void* caller) {
  const int type = type_of(mutex);
  if (type == kDestroyed) return EINVAL;
  if (mutex->__data.__lock != 0) {
    if (type != PTHREAD_MUTEX_RECURSIVE || mutex->__data.__owner != self()) return EBUSY;
    if (mutex->__data.__count + 1 == 0) return EAGAIN;
    ++mutex->__data.__count;
    return 0;
  }
  if (could_be_taken(mutex) && g_sched.choose(abi::ChoiceKind::kTrylock) != 0) return EBUSY;
  take(mutex, caller);
  return 0;
}

int mutex_unlock(pthread_mutex_t* mutex) {
  const int type = type_of(mutex);
  if (type == kDestroyed) return EINVAL;
  if (type == PTHREAD_MUTEX_ERRORCHECK || type == PTHREAD_MUTEX_RECURSIVE) {
    if (mutex->__data.__lock == 0 || mutex->__data.__owner != self()) return EPERM;
    if (type == PTHREAD_MUTEX_RECURSIVE && --mutex->__data.__count != 0) return 0;
  }
  mutex->__data.__lock = 0;
  mutex->__data.__owner = 0;
  mutex->__data.__count = 0;
  release(mutex);
  g_sched.wake_one(mutex);
  return 0;
}

int mutex_destroy(pthread_mutex_t* mutex) {
  if (type_of(mutex) == kDestroyed) return EINVAL;
  if (mutex->__data.__lock != 0) return EBUSY;
  mutex->__data.__kind = kDestroyed;
  return 0;
}

}  // namespace clew::rt
