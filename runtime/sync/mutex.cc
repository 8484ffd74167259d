// Mutexes of all kinds and protocols, in glibc's layout. What the words mean:
//
//   __lock   0 free, 1 taken, 2 taken and waited for
//            robust or PRIO_INHERIT: the owner's thread id, kWaiters, kOwnerDied
//            PRIO_PROTECT: as the first, and the ceiling in the upper bits
//   __owner  the owner's thread id; kInconsistent, kNotRecoverable for a robust one
//   __count  how often a recursive one is locked
//   __nusers those who have locked it, and those who wait for a condition with it
//
// The answers are those of glibc 2.36 (nptl/pthread_mutex_lock.c and its neighbours).
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "runtime/outside/foreign.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/end.h"
#include "runtime/sync/held.h"
#include "runtime/sync/models.h"
#include "runtime/thread/thread_block.h"

namespace clew::rt {
namespace {

// Bits of glibc's __kind. A robust mutex always has kShared.
constexpr int kTypeMask = 3;
constexpr int kRobust = 16;
constexpr int kInherit = 32;
constexpr int kProtect = 64;
constexpr int kShared = 128;
constexpr int kDestroyed = -1;  // what pthread_mutex_destroy leaves

constexpr int kWaitedFor = 2;

constexpr unsigned kWaiters = 0x8000'0000;
constexpr unsigned kOwnerDied = 0x4000'0000;
constexpr unsigned kIdMask = 0x3fff'ffff;
constexpr unsigned kCeilingMask = 0xfff8'0000;
constexpr int kCeilingShift = 19;

constexpr int kInconsistent = INT_MAX;
constexpr int kNotRecoverable = INT_MAX - 1;

struct Kind {
  int bits;
  bool is_valid() const { return bits >= 0; }
  int type() const { return bits & kTypeMask; }
  bool recursive() const { return type() == PTHREAD_MUTEX_RECURSIVE; }
  bool checking() const { return type() == PTHREAD_MUTEX_ERRORCHECK; }
  bool robust() const { return (bits & kRobust) != 0; }
  bool inherit() const { return (bits & kInherit) != 0; }
  bool protect() const { return (bits & kProtect) != 0; }
  bool shared() const { return (bits & kShared) != 0; }
  bool by_id() const { return robust() || inherit(); }  // __lock holds the owner
  // Without a protocol and private to this process. All threads are one kernel thread, so plain
  // loads and stores of the words suffice.
  bool plain() const { return (bits & ~kTypeMask) == 0; }
};

Kind kind_of(const pthread_mutex_t* mutex) { return {mutex->__data.__kind}; }

// For a kind that is not valid. glibc's answer is EINVAL, which most programs do not look at: they
// would run on without the lock.
int refuse(Kind kind, const char* what) {
  if (kind.bits == kDestroyed) end_misuse(what);
  return EINVAL;
}

unsigned* word_of(pthread_mutex_t* mutex) {
  return reinterpret_cast<unsigned*>(&mutex->__data.__lock);
}
unsigned word(const pthread_mutex_t* mutex) {
  return __atomic_load_n(reinterpret_cast<const unsigned*>(&mutex->__data.__lock),
                         __ATOMIC_SEQ_CST);
}

int self() { return g_sched.current->number; }

// What stands in __lock for the running thread. The kernel knows the owner of a PRIO_INHERIT mutex
// by it when another process waits for it: there it is the kernel thread's id.
unsigned id_in_word(Kind kind) {
  if (!kind.inherit() || !g_other_processes) return static_cast<unsigned>(self());
  return static_cast<unsigned>(raw_syscall(SYS_gettid));
}

bool is_locked(const pthread_mutex_t* mutex, Kind kind) {
  const unsigned w = word(mutex);
  if (kind.by_id()) return (w & kIdMask) != 0;
  return (kind.protect() ? w & ~kCeilingMask : w) != 0;
}

// For a mutex that is locked. An inconsistent one is owned by the thread that was told so.
bool is_owned_by(const pthread_mutex_t* mutex, const Fiber& fiber) {
  if (is_number_of(fiber, mutex->__data.__owner)) return true;
  if (mutex->__data.__owner != kInconsistent) return false;
  return is_number_of(fiber, static_cast<int>(word(mutex) & kIdMask)) || holds(fiber, mutex);
}

bool is_mine(const pthread_mutex_t* mutex, Kind kind) {
  return is_locked(mutex, kind) && is_owned_by(mutex, *g_sched.current);
}

bool replace_word(pthread_mutex_t* mutex, unsigned expected, unsigned wanted) {
  return __atomic_compare_exchange_n(word_of(mutex), &expected, wanted, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

void link_robust(pthread_mutex_t* mutex) {
  Fiber& fiber = *g_sched.current;
  mutex->__data.__list.__next = reinterpret_cast<__pthread_internal_list*>(fiber.robust);
  fiber.robust = mutex;
}

pthread_mutex_t* next_robust(const pthread_mutex_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex->__data.__list.__next);
}

void unlink_robust(pthread_mutex_t* mutex) {
  Fiber& fiber = *g_sched.current;
  if (fiber.robust == mutex) {
    fiber.robust = next_robust(mutex);
  } else {
    for (pthread_mutex_t* m = fiber.robust; m != nullptr; m = next_robust(m))
      if (next_robust(m) == mutex) m->__data.__list.__next = mutex->__data.__list.__next;
  }
  mutex->__data.__list.__next = nullptr;
}

enum class Users : std::uint8_t { kCounted, kKept };  // kKept: of a wait for a condition

void put_word_free(pthread_mutex_t* mutex, Kind kind) {
  if (kind.plain()) {
    const bool waited_for = mutex->__data.__lock > 1;
    mutex->__data.__lock = 0;
    // As in glibc: whoever waits for a mutex that has been initialised again is not woken.
    if (!waited_for) return;
  } else if (kind.inherit() && g_other_processes) {
    const unsigned id = id_in_word(kind);
    if (!replace_word(mutex, id, 0))
      raw_syscall(SYS_futex, reinterpret_cast<long>(word_of(mutex)), FUTEX_UNLOCK_PI);
  } else {
    const unsigned ceiling = kind.protect() ? word(mutex) & kCeilingMask : 0;
    const unsigned before = __atomic_exchange_n(word_of(mutex), ceiling, __ATOMIC_SEQ_CST);
    const bool waited_for = kind.by_id() ? (before & kWaiters) != 0 : (before & 3) > 1;
    if (kind.shared() && waited_for) wake_others(word_of(mutex), 1);
  }
  g_sched.wake_one(mutex);
}

// One attempt. EBUSY: another thread has it.
int take_word(pthread_mutex_t* mutex, Kind kind) {
  const unsigned before = word(mutex);
  if (!kind.by_id()) {
    const unsigned ceiling = kind.protect() ? before & kCeilingMask : 0;
    // Others may have waited before: whoever unlocks it wakes one then, to be safe.
    const unsigned taken = kind.shared() && g_other_processes ? 2 : 1;
    return replace_word(mutex, ceiling, ceiling | taken) ? 0 : EBUSY;
  }
  const unsigned id = id_in_word(kind);
  if ((before & kOwnerDied) != 0) {
    if (!replace_word(mutex, before, id | (before & kWaiters))) return EBUSY;
    return EOWNERDEAD;
  }
  if ((before & kIdMask) != 0 || !replace_word(mutex, before, id | (before & kWaiters)))
    return EBUSY;
  if (kind.robust() && g_other_processes && !kind.inherit())
    __atomic_fetch_or(word_of(mutex), kWaiters, __ATOMIC_SEQ_CST);
  return 0;
}

// The word is taken, with this result: does the rest of locking. Returns the answer of the lock
// function.
int take(pthread_mutex_t* mutex, Kind kind, int result, Users users, const void* caller) {
  if (result == 0 && kind.robust() && mutex->__data.__owner == kNotRecoverable) {
    mutex->__data.__count = 0;
    put_word_free(mutex, kind);
    return ENOTRECOVERABLE;
  }
  mutex->__data.__count = 1;
  mutex->__data.__owner = result == EOWNERDEAD ? kInconsistent : self();
  // The dead owner is still counted.
  if (users == Users::kCounted && result != EOWNERDEAD) ++mutex->__data.__nusers;
  if (kind.robust()) link_robust(mutex);
  hold(abi::WaitKind::kMutex, mutex, caller);
  return result;
}

int lock_again(pthread_mutex_t* mutex) {
  if (mutex->__data.__count + 1 == 0) return EAGAIN;
  ++mutex->__data.__count;
  return 0;
}

// A thread may not take what has a lower ceiling than its own priority; and glibc cannot raise one
// that has none.
bool is_above_ceiling(const pthread_mutex_t* mutex) {
  const SchedulingWish& wish = g_sched.current->scheduling;
  const int ceiling = static_cast<int>((word(mutex) & kCeilingMask) >> kCeilingShift);
  const bool real_time = wish.policy == SCHED_FIFO || wish.policy == SCHED_RR;
  return !real_time || wish.priority > ceiling;
}

int lock(pthread_mutex_t* mutex, Nanos deadline, Users users, const void* caller) {
  const Kind kind = kind_of(mutex);
  if (CLEW_LIKELY(kind.plain() && mutex->__data.__lock == 0)) {
    mutex->__data.__lock = 1;
    return take(mutex, kind, 0, users, caller);
  }
  if (!kind.is_valid()) return refuse(kind, "locking a mutex that has been destroyed");
  if (is_mine(mutex, kind)) {
    if (kind.checking()) return EDEADLK;
    if (kind.recursive()) return lock_again(mutex);
  }
  if (kind.protect() && is_above_ceiling(mutex)) return EINVAL;
  bool waited = false;
  int result;
  while ((result = take_word(mutex, kind)) == EBUSY) {
    if (const int error = before_wait(deadline)) return error;
    // One that does not know its owner can be unlocked by any process.
    const bool anybody =
        g_other_processes && !kind.by_id() && !kind.recursive() && !kind.checking();
    if (kind.shared() && (anybody || is_foreign(mutex->__data.__owner))) {
      wait_for_others(abi::WaitKind::kMutex, mutex, deadline, kUndisturbed);
    } else {
      if (kind.plain()) mutex->__data.__lock = kWaitedFor;
      g_sched.block(abi::WaitKind::kMutex, mutex, deadline);
    }
    waited = true;
  }
  // Others may wait as well.
  if (waited && kind.plain()) mutex->__data.__lock = kWaitedFor;
  if (waited) g_sched.announce(g_sched.current->reached.step, Scheduler::Counted::kNo);
  return take(mutex, kind, result, users, caller);
}

int unlock(pthread_mutex_t* mutex, Users users) {
  const Kind kind = kind_of(mutex);
  if (!kind.is_valid()) return refuse(kind, "unlocking a mutex that has been destroyed");
  const bool knows_owner = kind.by_id() || kind.recursive() || kind.checking();
  if (knows_owner && !is_mine(mutex, kind)) return EPERM;
  const bool inconsistent = mutex->__data.__owner == kInconsistent;
  if (kind.recursive() && --mutex->__data.__count != 0) return inconsistent ? ENOTRECOVERABLE : 0;
  mutex->__data.__owner = inconsistent ? kNotRecoverable : 0;
  mutex->__data.__count = 0;
  if (users == Users::kCounted) --mutex->__data.__nusers;
  if (kind.robust()) unlink_robust(mutex);
  release(mutex);
  put_word_free(mutex, kind);
  return 0;
}

}  // namespace

bool mutex_can_be_taken(const Fiber& fiber) {
  const auto* mutex = reinterpret_cast<const pthread_mutex_t*>(fiber.reached.step.object);
  const Kind kind = kind_of(mutex);
  if (!kind.is_valid() || !is_locked(mutex, kind)) return true;
  return is_owned_by(mutex, fiber) && (kind.recursive() || kind.checking());
}

int mutex_lock(pthread_mutex_t* mutex, Nanos deadline, const void* caller) {
  return lock(mutex, deadline, Users::kCounted, caller);
}

int mutex_lock_after_wait(pthread_mutex_t* mutex, const void* caller) {
  return lock(mutex, kForever, Users::kKept, caller);
}

int mutex_unlock_for_wait(pthread_mutex_t* mutex) { return unlock(mutex, Users::kKept); }

int mutex_trylock(pthread_mutex_t* mutex, const void* caller) {
  const Kind kind = kind_of(mutex);
  if (!kind.is_valid()) return refuse(kind, "locking a mutex that has been destroyed");
  if (is_mine(mutex, kind)) {
    if (kind.recursive()) return lock_again(mutex);
    // glibc answers so where __lock or the protocol tells it the owner.
    if (kind.checking() && (kind.by_id() || kind.protect())) return EDEADLK;
    return EBUSY;
  }
  if (kind.protect() && is_above_ceiling(mutex)) return EINVAL;
  if (is_locked(mutex, kind)) return EBUSY;
  if (could_be_taken(mutex) && g_sched.happens(abi::ChoiceKind::kTrylock)) return EBUSY;
  const int result = take_word(mutex, kind);
  return result == EBUSY ? EBUSY : take(mutex, kind, result, Users::kCounted, caller);
}

int mutex_unlock(pthread_mutex_t* mutex) { return unlock(mutex, Users::kCounted); }

int mutex_destroy(pthread_mutex_t* mutex) {
  const Kind kind = kind_of(mutex);
  if (!kind.is_valid()) return EINVAL;
  if (!kind.robust() && mutex->__data.__nusers != 0) return EBUSY;
  mutex->__data.__kind = kDestroyed;
  return 0;
}

int mutex_consistent(pthread_mutex_t* mutex) {
  if (!kind_of(mutex).robust() || mutex->__data.__owner != kInconsistent) return EINVAL;
  mutex->__data.__owner = self();
  return 0;
}

int mutex_set_ceiling(pthread_mutex_t* mutex, int ceiling, int* before, const void* caller) {
  const Kind kind = kind_of(mutex);
  if (!kind.is_valid() || !kind.protect()) return EINVAL;
  if (ceiling < sched_get_priority_min(SCHED_FIFO) || ceiling > sched_get_priority_max(SCHED_FIFO))
    return EINVAL;
  const bool mine = is_mine(mutex, kind);
  if (mine && kind.checking()) return EDEADLK;
  const bool keeps = mine && kind.recursive();
  // Without regard to the ceiling that it still has.
  while (!keeps && take_word(mutex, kind) == EBUSY)
    g_sched.block(abi::WaitKind::kMutex, mutex, kForever);
  if (!keeps) hold(abi::WaitKind::kMutex, mutex, caller);
  if (before != nullptr) *before = static_cast<int>((word(mutex) & kCeilingMask) >> kCeilingShift);
  const unsigned state = word(mutex) & ~kCeilingMask;
  __atomic_store_n(word_of(mutex), state | static_cast<unsigned>(ceiling) << kCeilingShift,
                   __ATOMIC_SEQ_CST);
  if (keeps) return 0;
  release(mutex);
  put_word_free(mutex, kind);
  return 0;
}

namespace {

void note_death_of_owner(pthread_mutex_t* mutex) {
  const unsigned waiters = word(mutex) & kWaiters;
  __atomic_store_n(word_of(mutex), waiters | kOwnerDied, __ATOMIC_SEQ_CST);
  if (waiters != 0) wake_others(word_of(mutex), 1);
}

}  // namespace

// What the kernel does with the robust list of a thread that ends.
void mutex_owner_ends(Fiber& fiber) {
  while (pthread_mutex_t* mutex = fiber.robust) {
    fiber.robust = next_robust(mutex);
    mutex->__data.__list.__next = nullptr;
    release(mutex);
    note_death_of_owner(mutex);
    g_sched.wake_one(mutex);
  }
}

void leave_mutexes_to_others() {
  g_sched.threads.for_each_living([](const Fiber& fiber) {
    for (pthread_mutex_t* mutex = fiber.robust; mutex != nullptr; mutex = next_robust(mutex))
      note_death_of_owner(mutex);
  });
}

}  // namespace clew::rt
