#include "runtime/snapshot/fork.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clew_abi/control.h"
#include "runtime/fiber/raw_syscall.h"
#include "runtime/rt.h"

namespace clew::rt {
namespace {

// Descriptors beyond are rare in a program that has just started; their offsets are not put back.
constexpr int kMaxDescriptors = 256;

abi::Control& control() { return *reinterpret_cast<abi::Control*>(abi::kControlAddress); }

}  // namespace

bool fork_and_wait(int* status) {
  long offsets[kMaxDescriptors];
  for (int fd = 0; fd < kMaxDescriptors; ++fd)
    offsets[fd] = raw_syscall(SYS_lseek, fd, 0, SEEK_CUR);
  // libc's own fork would give back the stacks of all threads but the calling one.
  const long self = raw_syscall(SYS_getpid);
  const long pid = raw_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  CLEW_CHECK(pid >= 0);
  if (pid == 0) {
    raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (raw_syscall(SYS_getppid) != self) raw_syscall(SYS_exit_group, kOrderlyEnd);
    return true;
  }
  control().runner.store(static_cast<std::int32_t>(pid), std::memory_order_release);
  while (raw_syscall(SYS_wait4, pid, reinterpret_cast<long>(status), 0, 0) == -4 /* EINTR */) {
  }
  control().runner.store(0, std::memory_order_release);
  for (int fd = 0; fd < kMaxDescriptors; ++fd)
    if (offsets[fd] >= 0) raw_syscall(SYS_lseek, fd, offsets[fd], SEEK_SET);
  return false;
}

}  // namespace clew::rt
