// What the files that move data share.
#ifndef CLEW_RUNTIME_SYSCALL_TRANSFER_H_
#define CLEW_RUNTIME_SYSCALL_TRANSFER_H_

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/syscall/families.h"
#include "runtime/time/deadline.h"

namespace clew::rt {

inline int fd_of(const Call& call) { return static_cast<int>(call.a[0]); }

// A call on a socket with a time limit is interrupted by every handler, even by one with
// SA_RESTART.
inline Patience patience_of(Nanos timeout) {
  if (timeout <= 0) return {};
  return {deadline_after(timeout), kSignalsAlways | kCancel};
}

// The answer of the call when the wait has ended with this error.
inline long end_of_wait(long error) { return error == -ETIMEDOUT ? -EAGAIN : error; }

// Makes a call that does not wait, whatever the descriptor's flags say.
template <class Make>
long without_waiting(int fd, Make make) {
  const long flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) return make();
  raw_syscall(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
  const long result = make();
  raw_syscall(SYS_fcntl, fd, F_SETFL, flags);
  return result;
}

long accepted(const Call& call);
long connected(const Call& call);  // connection_calls.cc
long moved(const Call& call);      // move_calls.cc

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_TRANSFER_H_
