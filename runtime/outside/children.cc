#include "runtime/outside/children.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clew_abi/control.h"
#include "runtime/keep.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/job.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

constexpr std::uint32_t kMostChildren = 64;  // bits of abi::JobResult::threaded_children
// Where copies of the parent's descriptors are kept, below those that snapshot/reset.cc keeps.
// Chosen, not measured: few programs have more descriptors open when they fork.
constexpr int kLowestHeld = 300;

std::uint32_t g_children = 0;  // made so far; in a child up to this one
bool g_entered = false;
long g_numbers[kMostChildren];

const abi::Control& control() {
  return *reinterpret_cast<const abi::Control*>(abi::kControlAddress);
}

bool is_shared_with_child(int fd) {
  struct stat status;
  return raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

}  // namespace

bool is_next_child_entered() { return !g_entered && g_children + 1 == control().enter_child; }

bool begin_child() {
  const bool enters = is_next_child_entered();
  ++g_children;
  g_entered |= enters;
  return enters;
}

bool is_entered_child() { return g_entered; }

void hold_descriptors_of_parent() {
  for (int fd = 0; fd < kLowestHeld; ++fd)
    if (is_shared_with_child(fd)) raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kLowestHeld);
}

bool is_left_out_in_child(const Call& call) {
  return g_entered && (call.number == SYS_setpgid || call.number == SYS_setsid);
}

void note_child(long number) {
  if (number > 0 && g_children <= kMostChildren) g_numbers[g_children - 1] = number;
}

void note_end_of_child(long number, int status) {
  if (status == 0 || !running_job()) return;
  for (std::uint32_t i = 0; i < g_children && i < kMostChildren; ++i)
    if (g_numbers[i] == number) kept().failed_children |= std::uint64_t{1} << i;
}

void note_thread_of_child() {
  if (!keep_ready || g_children == 0 || g_children > kMostChildren) return;
  __atomic_fetch_or(&kept().threaded_children, std::uint64_t{1} << (g_children - 1),
                    __ATOMIC_RELAXED);
}

}  // namespace clew::rt
