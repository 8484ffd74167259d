#include "runtime/outside/children.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

// A child that has ended, or 0; nothing if there is none of that kind.
struct Ended {
  bool any;
  long number;
};
Ended ended_of(idtype_t kind, long number) {
  siginfo_t info{};
  const bool any = raw_syscall(SYS_waitid, kind, number, reinterpret_cast<long>(&info),
                               WEXITED | WNOHANG | WNOWAIT, 0) == 0;
  return {any, info.si_pid};
}

bool lives(long number) {
  const Ended ended = ended_of(P_PID, number);
  return ended.any && ended.number == 0;
}

// The kernel's list of the numbers of all children, each with a space after it.
bool any_listed_lives() {
  const long file = raw_syscall(SYS_open, reinterpret_cast<long>("/proc/thread-self/children"),
                                O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[256];
  bool found = false;
  long number = 0;
  for (long size; !found && (size = raw_syscall(SYS_read, file, reinterpret_cast<long>(text),
                                                sizeof text)) > 0;)
    for (long i = 0; i < size && !found; ++i) {
      const bool is_digit = text[i] >= '0' && text[i] <= '9';
      found = !is_digit && number != 0 && lives(number);
      number = is_digit ? number * 10 + (text[i] - '0') : 0;
    }
  raw_syscall(SYS_close, file);
  return found;
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

Children children() {
  const Ended ended = ended_of(P_ALL, 0);
  if (!ended.any) return Children::kNone;
  return ended.number == 0 || any_listed_lives() ? Children::kLive : Children::kEnded;
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
