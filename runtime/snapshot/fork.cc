#include "runtime/snapshot/fork.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clew_abi/control.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/raw_syscall.h"
#include "runtime/rt.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/stuck.h"
#include "runtime/thread/thread_block.h"

namespace clew::rt {
namespace {

// Higher descriptors are rare in a program that has just started; their files are not restored.
constexpr int kMaxDescriptors = 256;

abi::Control& control() { return *reinterpret_cast<abi::Control*>(abi::kControlAddress); }

// What the kernel keeps with an open file, not with a descriptor.
struct OpenFile {
  long flags;  // negative: not open
  long offset;
};

void wait_for(long pid, int* status) {
  while (raw_syscall(SYS_wait4, pid, reinterpret_cast<long>(status), 0, 0) == -4 /* EINTR */) {
  }
}

}  // namespace

bool fork_and_wait(int* status) {
  OpenFile files[kMaxDescriptors];
  for (int fd = 0; fd < kMaxDescriptors; ++fd) {
    files[fd].flags = raw_syscall(SYS_fcntl, fd, F_GETFL);
    files[fd].offset = files[fd].flags >= 0 ? raw_syscall(SYS_lseek, fd, 0, SEEK_CUR) : -1;
  }
  // A copy that holds a checkpoint has children of its own. They die with it, but not at once: they
  // are waited for too, so that they do not write into the next job.
  raw_syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  // libc's own fork would give back the stacks of all threads but the calling one.
  const long self = raw_syscall(SYS_getpid);
  const long pid = raw_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  CLEW_CHECK(pid >= 0);
  if (pid == 0) {
    raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    renew_user_dispatch();
    watch_for_stuck_threads_again();
    if (Fiber* first = g_sched.threads.fiber(0))
      set_main_number(*first, static_cast<int>(raw_syscall(SYS_getpid)));
    if (raw_syscall(SYS_getppid) != self) raw_syscall(SYS_exit_group, kOrderlyEnd);
    // Stored by the copy itself: the parent might be late and overwrite what a copy of the copy has
    // stored.
    control().runner.store(static_cast<std::int32_t>(raw_syscall(SYS_getpid)),
                           std::memory_order_release);
    return true;
  }
  wait_for(pid, status);
  int of_others = 0;
  while (raw_syscall(SYS_wait4, -1, reinterpret_cast<long>(&of_others), 0, 0) > 0) {
  }
  control().runner.store(0, std::memory_order_release);
  for (int fd = 0; fd < kMaxDescriptors; ++fd) {
    if (files[fd].flags < 0) continue;
    if (files[fd].offset >= 0) raw_syscall(SYS_lseek, fd, files[fd].offset, SEEK_SET);
    if (raw_syscall(SYS_fcntl, fd, F_GETFL) != files[fd].flags)
      raw_syscall(SYS_fcntl, fd, F_SETFL, files[fd].flags);
  }
  return false;
}

}  // namespace clew::rt
