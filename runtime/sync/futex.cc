// The futex system call, and with it C++20's atomic wait, latch, barrier and semaphore.
#include <errno.h>
#include <linux/futex.h>

#include "runtime/outside/foreign.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/cancel.h"
#include "runtime/sync/models.h"
#include "runtime/thread/thread_block.h"

namespace clew::rt {
namespace {

// Whom a word is for.
enum class Scope : std::uint8_t { kProcess, kShared };

// What a wake-up orders, apart from what the word itself does as an atomic variable.
const void* wake_up_of(const std::uint32_t* word) {
  return reinterpret_cast<const char*>(word) + 1;
}

long answer_of(Woke woke) {
  switch (woke) {
    case Woke::kByTime:
      return -ETIMEDOUT;
    case Woke::kBySignal:
      return -EINTR;
    case Woke::kByCancel:
      return kCancelled;
    default:
      return 0;
  }
}

long wait(std::uint32_t* word, std::uint32_t value, Nanos deadline, std::uint32_t bits,
          Scope scope) {
  if (bits == 0) return -EINVAL;
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return -EAGAIN;
  if (const int error = before_wait(deadline)) return -error;
  // In a function of libc that is a cancellation point (aio_suspend).
  const unsigned ended_by = (deadline == kForever ? kSignals : kSignalsAlways) |
                            (libc_waits_for_cancel(*g_sched.current) ? kCancel : 0);
  if ((ended_by & kCancel) != 0 && cancel_wanted(*g_sched.current)) return kCancelled;
  // Another process may have woken it; a spurious wake-up is allowed.
  if (scope == Scope::kShared && g_other_processes)
    return answer_of(wait_for_others(abi::WaitKind::kFutex, word, deadline, ended_by));
  Wait wait;
  wait.kind = abi::WaitKind::kFutex;
  wait.object = word;
  wait.bits = bits;
  const Woke woke = g_sched.block(wait, deadline, ended_by);
  if (woke == Woke::kByObject)
    g_sched.announce_sync(Synchronised::Kind::kAcquires, wake_up_of(word));
  return answer_of(woke);
}

long wake(std::uint32_t* word, std::uint32_t count, std::uint32_t bits, Scope scope) {
  if (bits == 0) return -EINVAL;
  g_sched.announce_sync(Synchronised::Kind::kReleases, wake_up_of(word));
  long woken = 0;
  while (woken < static_cast<long>(count) && g_sched.wake_one(word, bits) != nullptr) ++woken;
  if (scope == Scope::kShared && woken < static_cast<long>(count))
    woken += wake_others(word, static_cast<int>(count - static_cast<std::uint32_t>(woken)));
  return woken;
}

long requeue(std::uint32_t* from, std::uint32_t wake_count, std::uint32_t requeue_count,
             std::uint32_t* to, Scope scope) {
  long moved = wake(from, wake_count, ~0u, scope);
  for (std::uint32_t i = 0; i < requeue_count && g_sched.requeue_one(from, to); ++i) ++moved;
  return moved;
}

// FUTEX_WAKE_OP: change *word2 as `encoded` says, wake waiters of word, and those of
// word2 if its old value compares.
long wake_op(std::uint32_t* word, std::uint32_t count, std::uint32_t count2, std::uint32_t* word2,
             std::uint32_t encoded, Scope scope) {
  const int op = (encoded >> 28) & 7;
  const int compare = (encoded >> 24) & 15;
  auto argument = static_cast<std::int32_t>(encoded << 8) >> 20;
  const auto compare_to = static_cast<std::int32_t>(encoded << 20) >> 20;
  if ((encoded >> 28) & FUTEX_OP_OPARG_SHIFT) argument = 1 << (argument & 31);
  const auto old = static_cast<std::int32_t>(*word2);
  switch (op) {
    case FUTEX_OP_SET:
      *word2 = static_cast<std::uint32_t>(argument);
      break;
    case FUTEX_OP_ADD:
      *word2 += static_cast<std::uint32_t>(argument);
      break;
    case FUTEX_OP_OR:
      *word2 |= static_cast<std::uint32_t>(argument);
      break;
    case FUTEX_OP_ANDN:
      *word2 &= ~static_cast<std::uint32_t>(argument);
      break;
    case FUTEX_OP_XOR:
      *word2 ^= static_cast<std::uint32_t>(argument);
      break;
    default:
      return -ENOSYS;
  }
  bool holds;
  switch (compare) {
    case FUTEX_OP_CMP_EQ:
      holds = old == compare_to;
      break;
    case FUTEX_OP_CMP_NE:
      holds = old != compare_to;
      break;
    case FUTEX_OP_CMP_LT:
      holds = old < compare_to;
      break;
    case FUTEX_OP_CMP_LE:
      holds = old <= compare_to;
      break;
    case FUTEX_OP_CMP_GT:
      holds = old > compare_to;
      break;
    case FUTEX_OP_CMP_GE:
      holds = old >= compare_to;
      break;
    default:
      return -ENOSYS;
  }
  return wake(word, count, ~0u, scope) + (holds ? wake(word2, count2, ~0u, scope) : 0);
}

// Words with an owner (FUTEX_LOCK_PI and the like): the owner's thread id and FUTEX_WAITERS.
// Whoever unlocks one hands it to a waiter.
bool take_owned(std::uint32_t* word) {
  if ((*word & FUTEX_TID_MASK) != 0) return false;
  *word = (*word & FUTEX_OWNER_DIED) | static_cast<std::uint32_t>(g_sched.current->number);
  return true;
}

bool is_owner(const Fiber& fiber, std::uint32_t word) {
  return (word & FUTEX_TID_MASK) != 0 &&
         is_number_of(fiber, static_cast<int>(word & FUTEX_TID_MASK));
}

long taken_owned(const std::uint32_t* word) {
  g_sched.announce_sync(Synchronised::Kind::kAcquires, wake_up_of(word));
  return 0;
}

long lock_owned(std::uint32_t* word, Nanos deadline) {
  if (is_owner(*g_sched.current, *word)) return -EDEADLK;
  if (take_owned(word)) return taken_owned(word);
  bool owner_lives = false;
  g_sched.threads.for_each_living(
      [&](const Fiber& fiber) { owner_lives |= is_owner(fiber, *word); });
  if (!owner_lives) return -ESRCH;
  if (const int error = before_wait(deadline)) return -error;
  *word |= FUTEX_WAITERS;
  const Woke woke = g_sched.block(abi::WaitKind::kFutex, word, deadline, kUndisturbed);
  return woke == Woke::kByObject ? taken_owned(word) : answer_of(woke);
}

long trylock_owned(std::uint32_t* word) {
  if (is_owner(*g_sched.current, *word)) return -EDEADLK;
  return take_owned(word) ? taken_owned(word) : -EAGAIN;
}

long unlock_owned(std::uint32_t* word) {
  if (!is_owner(*g_sched.current, *word)) return -EPERM;
  g_sched.announce_sync(Synchronised::Kind::kReleases, wake_up_of(word));
  const Fiber* next = g_sched.wake_one(word);
  *word = next != nullptr ? static_cast<std::uint32_t>(next->number) : 0;
  if (g_sched.has_waiter(word, abi::WaitKind::kFutex)) *word |= FUTEX_WAITERS;
  return 0;
}

}  // namespace

long futex(std::uint32_t* word, int operation, std::uint32_t value, const timespec* timeout,
           std::uint32_t* word2, std::uint32_t value3) {
  const Scope scope = operation & FUTEX_PRIVATE_FLAG ? Scope::kProcess : Scope::kShared;
  const clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  if (reinterpret_cast<std::uintptr_t>(word) % sizeof *word != 0) return -EINVAL;
  // For the requeueing and WAKE_OP operations the kernel takes a count in place of the timeout.
  const auto value2 = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(timeout));
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT: {
      Nanos deadline = kForever;
      if (timeout != nullptr) {
        if (!is_duration(*timeout)) return -EINVAL;
        deadline = deadline_after(*timeout);
      }
      return wait(word, value, deadline, ~0u, scope);
    }
    case FUTEX_WAIT_BITSET:
      return wait(word, value, deadline_of(clock, timeout), value3, scope);
    case FUTEX_WAKE:
      return wake(word, value, ~0u, scope);
    case FUTEX_WAKE_BITSET:
      return wake(word, value, value3, scope);
    case FUTEX_REQUEUE:
      return requeue(word, value, value2, word2, scope);
    case FUTEX_CMP_REQUEUE:
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value3) return -EAGAIN;
      return requeue(word, value, value2, word2, scope);
    case FUTEX_WAKE_OP:
      return wake_op(word, value, value2, word2, value3, scope);
    case FUTEX_LOCK_PI:
      return lock_owned(word, deadline_of(CLOCK_REALTIME, timeout));
    case FUTEX_LOCK_PI2:
      return lock_owned(word, deadline_of(clock, timeout));
    case FUTEX_TRYLOCK_PI:
      return trylock_owned(word);
    case FUTEX_UNLOCK_PI:
      return unlock_owned(word);
    default:  // FUTEX_WAIT_REQUEUE_PI and its like: as a kernel without them
      return -ENOSYS;
  }
}

}  // namespace clew::rt
