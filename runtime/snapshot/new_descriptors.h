// Whether a run may have opened descriptors. Only then is it worth closing all that a process that is
// put back did not have: the kernel looks at each number there could be, for a quarter of the time of a
// short schedule.
#ifndef CLEW_RUNTIME_SNAPSHOT_NEW_DESCRIPTORS_H_
#define CLEW_RUNTIME_SNAPSHOT_NEW_DESCRIPTORS_H_

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "runtime/keep.h"
#include "runtime/outside/calls.h"

namespace clew::rt {

// Of a call that is not listed nothing is known.
inline bool may_open_descriptors(const Call& call) {
  switch (call.number) {
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_close:
    case SYS_lseek:
    case SYS_fstat:
    case SYS_newfstatat:
    case SYS_access:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_madvise:
    case SYS_brk:
    case SYS_futex:
    case SYS_sched_yield:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_time:
    case SYS_getrandom:
    case SYS_getpid:
    case SYS_gettid:
    case SYS_set_robust_list:
    case SYS_rseq:
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
    case SYS_sigaltstack:
    case SYS_exit:
    case SYS_exit_group:
      return false;
    case SYS_ioctl:
      return static_cast<unsigned>(call.a[1]) != TCGETS;
    case SYS_fcntl:
      return call.a[1] != F_GETFD && call.a[1] != F_GETFL;
    default:
      return true;
  }
}

// To be called for each system call of the program's.
inline void note_descriptors(const Call& call) {
  if (keep_ready && may_open_descriptors(call)) kept().may_have_opened = true;
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SNAPSHOT_NEW_DESCRIPTORS_H_
