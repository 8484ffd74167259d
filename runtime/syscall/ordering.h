// What system calls order: what a thread did before it sent something happens before what another
// does after it received something. Which of the things sent was received is not looked at, so that
// more may be taken for ordered than is.
#ifndef CLEW_RUNTIME_SYSCALL_ORDERING_H_
#define CLEW_RUNTIME_SYSCALL_ORDERING_H_

#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/outside/calls.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {

inline char g_outside_order;  // the object that is released and acquired

// Before the call.
inline void order_sender(const Call& call) {
  if (CLEW_LIKELY(!g_listeners.hears_of(kTopicSync))) return;
  switch (call.number) {
    case SYS_write:
    case SYS_writev:
      // Nobody in the program reads it.
      if (call.a[0] == STDOUT_FILENO || call.a[0] == STDERR_FILENO) return;
      break;
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_shutdown:
    case SYS_close:
    case SYS_connect:
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_msgsnd:
    case SYS_mq_timedsend:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_timerfd_settime:
    case SYS_splice:
      break;
    default:
      return;
  }
  g_sched.announce_sync(Synchronised::Kind::kReleases, &g_outside_order);
}

// After the call, and where it maps memory, that.
inline void order_receiver(const Call& call, long result) {
  if (CLEW_LIKELY(!g_listeners.hears_of(kTopicSync)) || result < 0) return;
  switch (call.number) {
    case SYS_mmap:
      return g_sched.announce_memory(MemoryChange::Kind::kReplaced,
                                     reinterpret_cast<const void*>(result),
                                     static_cast<std::uint64_t>(call.a[1]), nullptr);
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_rt_sigtimedwait:
    case SYS_msgrcv:
    case SYS_mq_timedreceive:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_splice:
      break;
    default:
      return;
  }
  g_sched.announce_sync(Synchronised::Kind::kAcquires, &g_outside_order);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_ORDERING_H_
