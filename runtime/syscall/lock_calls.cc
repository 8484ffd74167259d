// Calls that wait for something that cannot be polled, or only in a way of its own: file locks,
// message queues, semaphore sets. They are tried again.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/cancel.h"
#include "runtime/syscall/families.h"
#include "runtime/time/deadline.h"

namespace clew::rt {
namespace {

constexpr std::size_t kMostOperations = 500;  // the kernel's SEMOPM

// A call made without waiting, and what came of it.
struct Attempt {
  explicit Attempt(const Call& made, long when_refused) : call(made), refused(when_refused) {}
  Call call;     // in the form that does not wait
  long refused;  // what it answers if it would have to wait
  long result = 0;
  bool was_refused = false;
  sembuf operations[kMostOperations];  // semop's, with IPC_NOWAIT
  bool again() {
    result = to_kernel(call);
    // The object does not exist any more.
    if (was_refused && result == -EINVAL) result = -EIDRM;
    was_refused |= result == refused;
    return result != refused;
  }
};

bool try_attempt(OutsideWait& wait) {
  return static_cast<Attempt*>(const_cast<void*>(wait.data))->again();
}

// The attempt that succeeds is the call itself: it must not be made twice.
long attempted(const Call& call, Attempt& attempt, abi::WaitKind kind, const Patience& patience,
               long when_late) {
  if (has_to_wait(call, [&] { return !attempt.again(); })) {
    const long error = wait_by_trying(call, kind, try_attempt, &attempt, patience);
    if (error == kCancelled) return error;
    if (error != kReady)
      return answered(call, [&] { return error == -ETIMEDOUT ? when_late : error; });
  }
  return answered(call, [&] { return attempt.result; });
}

long locked_file(const Call& call) {
  if (call.number == SYS_flock) {
    if ((call.a[1] & LOCK_NB) != 0) return recorded(call);
    Attempt attempt(call, -EWOULDBLOCK);
    attempt.call.a[1] |= LOCK_NB;
    return attempted(call, attempt, abi::WaitKind::kFileLock, {}, -EINTR);
  }
  Attempt attempt(call, -EAGAIN);
  attempt.call.a[1] = call.a[1] == F_SETLKW ? F_SETLK : F_OFD_SETLK;
  return attempted(call, attempt, abi::WaitKind::kFileLock, {}, -EINTR);
}

long semaphores(const Call& call) {
  const auto* operations = reinterpret_cast<const sembuf*>(call.a[1]);
  const auto count = static_cast<std::size_t>(call.a[2]);
  Attempt attempt(call, -EAGAIN);
  bool waits = count <= kMostOperations;
  for (std::size_t i = 0; waits && i < count; ++i) {
    waits &= (operations[i].sem_flg & IPC_NOWAIT) == 0;
    attempt.operations[i] = operations[i];
    attempt.operations[i].sem_flg |= IPC_NOWAIT;
  }
  if (!waits) return recorded(call);
  attempt.call.number = SYS_semop;
  attempt.call.a[1] = reinterpret_cast<long>(attempt.operations);
  Patience patience{kForever, kSignalsAlways};
  const auto* timeout = reinterpret_cast<const timespec*>(call.a[3]);
  if (call.number == SYS_semtimedop && timeout != nullptr) {
    if (!is_duration(*timeout)) return answered(call, [] { return -EINVAL; });
    patience.deadline = deadline_after(*timeout);
  }
  return attempted(call, attempt, abi::WaitKind::kSemaphore, patience, -EAGAIN);
}

long messages(const Call& call) {
  const int flags_at = call.number == SYS_msgsnd ? 3 : 4;
  if ((call.a[flags_at] & IPC_NOWAIT) != 0) return recorded(call);
  Attempt attempt(call, call.number == SYS_msgsnd ? -EAGAIN : -ENOMSG);
  attempt.call.a[flags_at] |= IPC_NOWAIT;
  return attempted(call, attempt, abi::WaitKind::kDescriptor, {kForever, kSignalsAlways | kCancel},
                   -EINTR);
}

// A POSIX message queue is a descriptor; a deadline in the past makes the call one that does not
// wait.
long queue(const Call& call) {
  static constexpr timespec kLongAgo{0, 0};
  Attempt attempt(call, -ETIMEDOUT);
  attempt.call.a[4] = reinterpret_cast<long>(&kLongAgo);
  Patience patience;
  const auto* until = reinterpret_cast<const timespec*>(call.a[4]);
  if (until != nullptr) patience.deadline = deadline_of(CLOCK_REALTIME, until);
  if (patience.deadline == kInvalidDeadline) return answered(call, [] { return -EINVAL; });
  return attempted(call, attempt, abi::WaitKind::kDescriptor, patience, -ETIMEDOUT);
}

}  // namespace

long lock_call(const Call& call) {
  switch (call.number) {
    case SYS_flock:
    case SYS_fcntl:
      return locked_file(call);
    case SYS_semop:
    case SYS_semtimedop:
      return semaphores(call);
    case SYS_msgsnd:
    case SYS_msgrcv:
      return messages(call);
    default:
      return queue(call);
  }
}

}  // namespace clew::rt
