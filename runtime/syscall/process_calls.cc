// Other processes: making them, waiting for them, becoming another program.
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clew_abi/notes.h"
#include "runtime/fiber/signal_stack.h"
#include "runtime/libc/refused.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/outside/children.h"
#include "runtime/outside/descriptors.h"
#include "runtime/outside/foreign.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/end.h"
#include "runtime/record/job.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/cancel.h"
#include "runtime/signal/signals.h"
#include "runtime/signal/stuck.h"
#include "runtime/snapshot/server.h"
#include "runtime/syscall/cloned_thread.h"
#include "runtime/syscall/copy.h"
#include "runtime/syscall/families.h"
#include "runtime/time/time_stamp.h"

namespace clew::rt {
namespace {

// --- waiting -------------------------------------------------------------------------------------

struct Awaited {
  idtype_t type;
  id_t id;
  int options;
};

// Whether a wait for it would end: a child has changed, or there is none.
bool has_changed(const Awaited& awaited) {
  siginfo_t info{};
  const long result =
      raw_syscall(SYS_waitid, awaited.type, awaited.id, reinterpret_cast<long>(&info),
                  awaited.options | WNOHANG | WNOWAIT, 0);
  return result != 0 || info.si_pid != 0;
}

bool child_has_changed(OutsideWait& wait) {
  return has_changed(*static_cast<const Awaited*>(wait.data));
}

Awaited awaited_by(const Call& call) {
  if (call.number == SYS_waitid)
    return {static_cast<idtype_t>(call.a[0]), static_cast<id_t>(call.a[1]),
            static_cast<int>(call.a[3])};
  const auto pid = static_cast<int>(call.a[0]);
  const int options = WEXITED | static_cast<int>(call.a[2] & (WUNTRACED | WCONTINUED));
  if (pid > 0) return {P_PID, static_cast<id_t>(pid), options};
  if (pid == -1) return {P_ALL, 0, options};
  return {P_PGID, static_cast<id_t>(-pid), options};
}

// The program has been told by `call`, which returned `result`, how a child has ended.
void note_end(const Call& call, long result) {
  if (call.number == SYS_wait4 && result > 0 && call.a[1] != 0)
    note_end_of_child(result, *reinterpret_cast<const int*>(call.a[1]));
  if (call.number != SYS_waitid || result != 0 || call.a[2] == 0) return;
  const auto& info = *reinterpret_cast<const siginfo_t*>(call.a[2]);
  if (info.si_pid != 0) note_end_of_child(info.si_pid, info.si_status);
}

long awaited(const Call& call) {
  const long options = call.number == SYS_waitid ? call.a[3] : call.a[2];
  const Awaited awaited = awaited_by(call);
  while (has_to_wait(call, [&] { return (options & WNOHANG) == 0 && !has_changed(awaited); })) {
    const long error = wait_by_trying(call, abi::WaitKind::kChild, child_has_changed, &awaited, {});
    if (error == kCancelled) return error;
    if (error != kReady) return answered(call, [&] { return error; });
  }
  const long result = recorded(call);
  note_end(call, result);
  return result;
}

// --- making --------------------------------------------------------------------------------------

std::uint64_t flags_of(const Call& call) {
  if (call.number == SYS_clone) return static_cast<std::uint64_t>(call.a[0]);
  if (call.number == SYS_clone3) return reinterpret_cast<const clone_args*>(call.a[0])->flags;
  return 0;
}

// The end of the stack that the child is to run on; 0: that of the caller.
std::uint64_t stack_of(const Call& call) {
  if (call.number == SYS_clone) return static_cast<std::uint64_t>(call.a[1]);
  if (call.number != SYS_clone3) return 0;
  const auto& arguments = *reinterpret_cast<const clone_args*>(call.a[0]);
  return arguments.stack != 0 ? arguments.stack + arguments.stack_size : 0;
}

// A child that shares the program's memory (posix_spawn) tells in the caller's frame why it could
// not become another program. A replay has no child.
class SharedFrame {
 public:
  explicit SharedFrame(const Call& call)
      : frame_(call.caught == nullptr
                   ? nullptr
                   : reinterpret_cast<char*>(call.caught->uc_mcontext.gregs[REG_RSP])) {
    // Not memcpy: a sanitizer's would find red zones there.
    if (frame_ != nullptr) __builtin_memcpy_inline(before_, frame_, kSize);
  }
  void record() const {
    if (frame_ == nullptr) return;
    std::uint16_t first = 0;
    std::uint16_t last = kSize;
    while (first < kSize && frame_[first] == before_[first]) ++first;
    while (last > first && frame_[last - 1] == before_[last - 1]) --last;
    memcpy(change_, &first, sizeof first);
    memcpy(change_ + sizeof first, frame_ + first, static_cast<std::size_t>(last - first));
    g_inputs.put_mapping(change_, sizeof first + static_cast<std::size_t>(last - first));
  }
  void replay() const {
    if (frame_ == nullptr) return;
    const std::size_t size = g_inputs.take_mapping(change_, sizeof change_);
    std::uint16_t first = 0;
    memcpy(&first, change_, sizeof first);
    if (size >= sizeof first && first + size - sizeof first <= kSize)
      memcpy(frame_ + first, change_ + sizeof first, size - sizeof first);
  }

 private:
  static constexpr std::uint16_t kSize = 2048;
  static inline char before_[kSize];
  static inline char change_[kSize + sizeof(std::uint16_t)];
  char* frame_;
};

bool shares_frame(const Call& call) {
  return (flags_of(call) & CLONE_VM) != 0 && stack_of(call) != 0 && call.caught != nullptr;
}

// The child is a copy with one thread, the calling one, and continues without clew.
void continue_alone(const Call& call) {
  // Processes that jobs leave behind would pile up by the thousands in a hunt.
  if (running_job()) raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  leave_job();
  continue_without_clew();
  // Returning from the handler that caught the call sets the mask from here.
  if (call.caught == nullptr) return;
  const std::uint64_t& mask = g_sched.current->signals.mask;
  memcpy(&const_cast<ucontext_t*>(call.caught)->uc_sigmask, &mask, sizeof mask);
}

// Returning from the handler that caught the call also sets the stack pointer.
void use_stack_of_copy(const Call& call) {
  const std::uint64_t stack = stack_of(call);
  if (call.caught == nullptr || stack == 0) return;
  const_cast<ucontext_t*>(call.caught)->uc_mcontext.gregs[REG_RSP] = static_cast<long long>(stack);
}

// The call without its stack: the child first has to return from the handler on this one.
struct OnThisStack {
  explicit OnThisStack(const Call& call) : kernel(call) {
    if (call.number == SYS_clone) kernel.a[1] = 0;
    if (call.number != SYS_clone3) return;
    const auto size = static_cast<std::size_t>(call.a[1]);
    memcpy(&arguments, reinterpret_cast<const void*>(call.a[0]),
           size < sizeof arguments ? size : sizeof arguments);
    arguments.stack = arguments.stack_size = 0;
    kernel.a[0] = reinterpret_cast<long>(&arguments);
  }
  Call kernel;
  clone_args arguments{};
};

long copied(const Call& call) {
  const bool shares_memory = (flags_of(call) & CLONE_VM) != 0;
  if (shares_frame(call)) {
    // The child is about to become another program; until then the parent waits in the kernel.
    enable_time_stamp();
    const NoOwnStack none;
    const long pid = clew_clone_at(call.number, call.a, call.caught->uc_mcontext.gregs);
    watch_time_stamp();
    return pid;
  }
  // A child that would share the stack too (vfork) gets a copy instead, which the program cannot
  // tell.
  Call plain{SYS_clone, {SIGCHLD, 0, 0, 0, 0, 0}};
  // A signal must not find the child while it still has the handlers of this process.
  const std::uint64_t all = ~bit_of(SIGSYS);
  std::uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
              reinterpret_cast<long>(&before), sizeof before);
  const OnThisStack here(call);
  const long pid = to_kernel(shares_memory || call.number == SYS_vfork ? plain : here.kernel);
  if (pid == 0 && !copies_can_be_recorded()) {
    continue_alone(call);
    return pid;
  }
  if (pid == 0) begin_copy();
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, sizeof before);
  return pid;
}

// The process continues as the child (children.h).
long enter_child(const Call& call) {
  const long zero = answered(call, [] {
    hold_descriptors_of_parent();
    return 0L;
  });
  if (zero == 0) use_stack_of_copy(call);
  if (zero == 0) continue_as_copy(call);
  return zero;
}

long forked(const Call& call) {
  if ((flags_of(call) & CLONE_THREAD) != 0) return clone_thread(call);
  nothing_is_inside();
  if (!shares_frame(call) && begin_child()) return enter_child(call);
  if (!g_other_processes) g_log.note(abi::kNoteOtherProcesses);
  static bool told = false;
  if (shares_memory() && !told) {
    told = true;
    g_log.note(
        "the program shares memory with a process that it started: what that process writes there "
        "is not recorded, and a replay may depart");
  }
  expect_other_processes();
  if (!shares_frame(call)) {
    const long pid = answered(call, [&] { return copied(call); });
    if (pid == 0) use_stack_of_copy(call);
    if (pid == 0 && g_sched.active) continue_as_copy(call);
    if (pid > 0) note_child(pid);
    return pid;
  }
  const SharedFrame frame(call);
  const long pid = answered(call, [&] { return copied(call); });
  if (g_inputs.recording()) frame.record();
  if (g_inputs.replaying()) frame.replay();
  return pid;
}

// --- becoming another program --------------------------------------------------------------------

// The recording ends here, unless the kernel refuses: that is an answer like any other.
long become_another(const Call& call, const char* path) {
  if (raw_syscall(SYS_access, reinterpret_cast<long>(path), F_OK) == -EFAULT)
    return to_kernel(call);
  const KernelSignals before;
  const EndInSight end(path);
  enable_time_stamp();
  hand_signals_to_kernel(*g_sched.current);
  const long error = to_kernel(call);
  before.restore();
  watch_time_stamp();
  end.take_back();
  return error;
}

long replaced(const Call& call) {
  const char* path =
      reinterpret_cast<const char*>(call.number == SYS_execve ? call.a[0] : call.a[1]);
  // Nothing was recorded after an exec that succeeded.
  if (g_inputs.replaying() && g_inputs.at_end()) {
    const EndInSight end(path);
    raw_syscall(SYS_exit_group, 0);
  }
  return answered(call, [&] { return become_another(call, path); });
}

}  // namespace

long process_call(const Call& call) {
  switch (call.number) {
    case SYS_wait4:
    case SYS_waitid:
      return awaited(call);
    case SYS_execve:
    case SYS_execveat:
      return replaced(call);
    default:
      return forked(call);
  }
}

}  // namespace clew::rt
