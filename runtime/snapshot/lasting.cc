#include "runtime/snapshot/lasting.h"

#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/keep.h"
#include "runtime/outside/children.h"
#include "runtime/record/job.h"
#include "runtime/snapshot/reset.h"

namespace clew::rt {
namespace {

std::uint64_t clone_flags(const Call& call) {
  if (call.number == SYS_clone) return static_cast<std::uint64_t>(call.a[0]);
  return reinterpret_cast<const clone_args*>(call.a[0])->flags;
}

// What is done to memory that the program has got since is gone with that memory.
bool is_of_remembered_memory(const Call& call) {
  const auto begin = static_cast<std::uintptr_t>(call.a[0]);
  return is_remembered(begin, begin + static_cast<std::uintptr_t>(call.a[1]));
}

// Memory that others may write to, which is not put back.
bool is_shared(const Call& call) {
  return (call.a[3] & MAP_SHARED) != 0 && (call.a[2] & PROT_WRITE) != 0;
}

// Advice that changes at most the content, which is put back.
bool is_passing_advice(long advice) {
  switch (advice) {
    case MADV_NORMAL:
    case MADV_RANDOM:
    case MADV_SEQUENTIAL:
    case MADV_WILLNEED:
    case MADV_DONTNEED:
    case MADV_FREE:
    case MADV_COLD:
    case MADV_PAGEOUT:
    case MADV_POPULATE_READ:
    case MADV_POPULATE_WRITE:
      return true;
    default:
      return false;
  }
}

bool is_question(long option) {
  switch (option) {
    case PR_GET_NAME:
    case PR_SET_NAME:  // answered by the runtime
    case PR_GET_DUMPABLE:
    case PR_GET_PDEATHSIG:
    case PR_GET_KEEPCAPS:
    case PR_GET_SECCOMP:
    case PR_GET_SECUREBITS:
    case PR_GET_TIMERSLACK:
    case PR_GET_CHILD_SUBREAPER:
    case PR_GET_NO_NEW_PRIVS:
    case PR_GET_TID_ADDRESS:
    case PR_GET_THP_DISABLE:
    case PR_CAPBSET_READ:
      return true;
    default:
      return false;
  }
}

// The call by which it is reported; 0: it leaves nothing behind. A process is made by SYS_fork, or
// by SYS_vfork if it is to become another program at once.
long lasting(const Call& call) {
  switch (call.number) {
    case SYS_clone:
    case SYS_clone3:
      if ((clone_flags(call) & CLONE_THREAD) != 0) return 0;
      return (clone_flags(call) & CLONE_VM) != 0 ? SYS_vfork : SYS_fork;
    case SYS_prctl:
      return is_question(call.a[0]) ? 0 : call.number;
    case SYS_prlimit64:
      return call.a[2] != 0 ? SYS_setrlimit : 0;
    case SYS_madvise:
      return !is_passing_advice(call.a[2]) && is_of_remembered_memory(call) ? call.number : 0;
    case SYS_mmap:
      return is_shared(call) || ((call.a[3] & MAP_FIXED) != 0 && is_of_remembered_memory(call))
                 ? call.number
                 : 0;
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mbind:
      return is_of_remembered_memory(call) ? call.number : 0;
    case SYS_fork:
    case SYS_vfork:
    case SYS_execve:
    case SYS_execveat:
    case SYS_setrlimit:
    case SYS_chdir:
    case SYS_fchdir:
    case SYS_chroot:
    case SYS_mount:
    case SYS_umount2:
    case SYS_umask:
    case SYS_setpriority:
    case SYS_ioprio_set:
    case SYS_personality:
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups:
    case SYS_setfsuid:
    case SYS_setfsgid:
    case SYS_capset:
    case SYS_setsid:
    case SYS_setpgid:
    case SYS_mlock:
    case SYS_mlock2:
    case SYS_mlockall:
    case SYS_set_mempolicy:
    case SYS_pkey_alloc:
    case SYS_seccomp:
    case SYS_arch_prctl:
    case SYS_shmget:
    case SYS_shmat:
    case SYS_semget:
    case SYS_msgget:
    case SYS_mq_open:
    case SYS_io_setup:
    case SYS_sethostname:
    case SYS_setdomainname:
      return call.number;
    default:
      return treatment_of(call.number) == Treatment::kUnknown ? call.number : 0;
  }
}

}  // namespace

void note_lasting(const Call& call) {
  if (!running_job() || kept().lasting != 0) return;
  const long number = lasting(call);
  if (number == 0 || is_left_out_in_child(call)) return;
  if (number == SYS_fork && is_next_child_entered()) return;
  kept().lasting = static_cast<std::uint32_t>(number);
  kept().never_back = true;
}

}  // namespace clew::rt
