#include "runtime/snapshot/prelude.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "runtime/outside/children.h"
#include "runtime/raw_syscall.h"

namespace clew::rt {
namespace {

bool only_reads(long flags) {
  return (flags & (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)) == O_RDONLY &&
         (flags & O_TMPFILE) != O_TMPFILE;
}

// Its position is put back; that of a pipe or a terminal is not.
bool is_regular_file(long fd) {
  struct stat status{};
  return raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0 &&
         S_ISREG(status.st_mode);
}

bool is_output(long fd) { return fd == 1 || fd == 2; }

}  // namespace

bool is_of_prelude(const Call& call) {
  switch (call.number) {
    // Memory.
    case SYS_brk:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_mincore:
    case SYS_membarrier:
      return true;
    case SYS_mmap:
      return (call.a[3] & MAP_TYPE) == MAP_PRIVATE;
    // Files that are there.
    case SYS_open:
      return only_reads(call.a[1]);
    case SYS_openat:
      return only_reads(call.a[2]);
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_lseek:
    case SYS_getdents64:
      return is_regular_file(call.a[0]) || call.number == SYS_getdents64;
    case SYS_close:
      return !is_output(call.a[0]) && call.a[0] != 0;
    case SYS_stat:
    case SYS_fstat:
    case SYS_lstat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_access:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_readlink:
    case SYS_readlinkat:
    case SYS_getcwd:
      return true;
    case SYS_ioctl:
      return static_cast<unsigned>(call.a[1]) == TCGETS;
    case SYS_fcntl:
      return call.a[1] == F_GETFL || call.a[1] == F_GETFD;
    case SYS_write:
    case SYS_writev:
      return is_output(call.a[0]);
    // Who and where the process is, but for its number: jobs have others.
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid:
    case SYS_uname:
    case SYS_sysinfo:
    case SYS_getrlimit:
    case SYS_getcpu:
    case SYS_sched_getaffinity:
    case SYS_sched_yield:
      return true;
    case SYS_prlimit64:
      return call.a[2] == 0;
    case SYS_prctl:
      return call.a[0] == PR_SET_NAME || call.a[0] == PR_GET_NAME;
    // Time and randomness are the runtime's own.
    case SYS_clock_gettime:
    case SYS_clock_getres:
    case SYS_gettimeofday:
    case SYS_time:
    case SYS_times:
    case SYS_getrandom:
    case SYS_futex:
    case SYS_set_robust_list:
    case SYS_rseq:
    // What the program does with signals; one that it sends to itself, too.
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigpending:
    case SYS_sigaltstack:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_exit:
    case SYS_exit_group:
      return true;
    // That the process continues as a child is not seen from outside.
    case SYS_fork:
    case SYS_vfork:
    case SYS_clone:
    case SYS_clone3:
      return is_next_child_entered();
    default:
      return false;
  }
}

}  // namespace clew::rt
