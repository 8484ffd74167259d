#include "runtime/syscall/system_call.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/detect/plug_in.h"
#include "runtime/outside/children.h"
#include "runtime/outside/descriptors.h"
#include "runtime/outside/file_times.h"
#include "runtime/outside/in_step.h"
#include "runtime/outside/poller.h"
#include "runtime/outside/randomness.h"
#include "runtime/outside/unrecorded.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/end.h"
#include "runtime/record/generation.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/attend.h"
#include "runtime/signal/cancel.h"
#include "runtime/signal/signals.h"
#include "runtime/signal/stuck.h"
#include "runtime/snapshot/lasting.h"
#include "runtime/snapshot/new_descriptors.h"
#include "runtime/snapshot/server.h"
#include "runtime/sync/models.h"
#include "runtime/syscall/cloned_thread.h"
#include "runtime/syscall/dispatch.h"
#include "runtime/syscall/families.h"
#include "runtime/syscall/mapped_files.h"
#include "runtime/syscall/ordering.h"
#include "runtime/syscall/vdso.h"
#include "runtime/thread/in_place.h"
#include "runtime/thread/names.h"
#include "runtime/thread/scheduling.h"
#include "runtime/thread/thread_block.h"
#include "runtime/time/time_stamp.h"

namespace clew::rt {
namespace {

template <class T>
T* pointer(long a) {
  return reinterpret_cast<T*>(a);
}

long yield() {
  if (g_sched.current->no_yield == 0) g_sched.yield_voluntarily();
  return 0;
}

long which_processor(unsigned* processor, unsigned* node) {
  if (processor != nullptr) *processor = static_cast<unsigned>(processor_of(*g_sched.current));
  if (node != nullptr) *node = 0;
  return 0;
}

long random(const Call& call) {
  constexpr long kRandom = 2;    // GRND_RANDOM
  constexpr long kInsecure = 4;  // GRND_INSECURE
  constexpr long kAll = 1 | kRandom | kInsecure;
  if ((call.a[2] & ~kAll) != 0 || (call.a[2] & (kRandom | kInsecure)) == (kRandom | kInsecure))
    return -EINVAL;
  random_bytes(pointer<void>(call.a[0]), static_cast<std::size_t>(call.a[1]));
  return call.a[1];
}

// The runtime keeps the names of threads.
long process_control(const Call& call) {
  Fiber& self = *g_sched.current;
  switch (call.a[0]) {
    case PR_SET_NAME:
      set_thread_name(self, pointer<const char>(call.a[1]));
      return 0;
    case PR_GET_NAME:
      get_thread_name(self, pointer<char>(call.a[1]));
      return 0;
    default:
      return to_kernel(call);
  }
}

// POSIX, section 2.9.5.2, as far as these are system calls of their own.
bool is_cancellation_point(const Call& call) {
  switch (call.number) {
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_open:
    case SYS_openat:
    case SYS_creat:
    case SYS_close:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_msync:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend:
      return true;
    case SYS_fcntl:
      return call.a[1] == F_SETLKW || call.a[1] == F_OFD_SETLKW;
    default:
      return false;
  }
}

long robust_list_of(const Call& call) {
  const Fiber& self = *g_sched.current;
  const bool is_own = call.a[0] == 0 || call.a[0] == self.number;
  if (self.robust_list == nullptr || !is_own) return to_kernel(call);
  *reinterpret_cast<void**>(call.a[1]) = self.robust_list;
  *reinterpret_cast<std::size_t*>(call.a[2]) = sizeof(robust_list_head);
  return 0;
}

long answered_here(const Call& call) {
  switch (call.number) {
    case SYS_futex:
      return futex(pointer<std::uint32_t>(call.a[0]), static_cast<int>(call.a[1]),
                   static_cast<std::uint32_t>(call.a[2]), pointer<const timespec>(call.a[3]),
                   pointer<std::uint32_t>(call.a[4]), static_cast<std::uint32_t>(call.a[5]));
    case SYS_sched_yield:
      return yield();
    case SYS_gettid:
      return g_sched.current->number;
    case SYS_getcpu:
      return which_processor(pointer<unsigned>(call.a[0]), pointer<unsigned>(call.a[1]));
    case SYS_getrandom:
      return random(call);
    case SYS_prctl:
      return process_control(call);
    case SYS_getrlimit:
    case SYS_setrlimit:
    case SYS_prlimit64:
      return limit_call(call);
    case SYS_sched_setaffinity:
    case SYS_sched_getaffinity:
    case SYS_sched_setparam:
    case SYS_sched_getparam:
    case SYS_sched_setscheduler:
    case SYS_sched_getscheduler:
      return scheduling_call(call);
    case SYS_exit_group:
      leave_program(static_cast<int>(call.a[0]));
    case SYS_exit:
      // libc's clone() calls it at the end of a process that it has made.
      if ((generation() > 0 || is_entered_child()) && !g_sched.current->cloned &&
          !g_sched.threads.has_company())
        leave_program(static_cast<int>(call.a[0]));
      end_cloned_thread();
    case SYS_set_robust_list:
      // Robust mutexes are modelled by the runtime, and one kernel thread runs all threads.
      if (static_cast<std::size_t>(call.a[1]) != sizeof(robust_list_head)) return -EINVAL;
      g_sched.current->robust_list = reinterpret_cast<void*>(call.a[0]);
      return 0;
    case SYS_get_robust_list:
      return robust_list_of(call);
    case SYS_rseq:
      // The kernel thread has one area, the first thread's; without one libc asks which processor
      // it is on.
      return g_sched.current->cloned ? 0 : to_kernel(call);
    default:
      note_refused_call(call.number);
      return -ENOSYS;
  }
}

long recorded_by_family(Treatment family, const Call& call) {
  switch (family) {
    case Treatment::kDescriptor:
      return descriptor_call(call);
    case Treatment::kControl:
      return control_call(call);
    case Treatment::kTransfer:
      return transfer_call(call);
    case Treatment::kPoll:
      return poll_call(call);
    case Treatment::kLock:
      return lock_call(call);
    case Treatment::kProcess:
      return process_call(call);
    case Treatment::kMap:
      return map_call(call);
    case Treatment::kAsync:
      return async_call(call);
    default:
      if (!is_left_out_in_child(call)) return recorded(call);
      return answered(call, [&] { return call.number == SYS_setsid ? g_sched.process : 0L; });
  }
}

bool is_of_family(Treatment treatment) {
  switch (treatment) {
    case Treatment::kUnknown:
    case Treatment::kNative:
    case Treatment::kHere:
    case Treatment::kTime:
    case Treatment::kSignal:
      return false;
    default:
      return true;
  }
}

// Addresses in arguments are dereferenced here and not by the kernel, which would answer the same.
// A replay may dereference fewer of them, so the answer is recorded.
long bad_address(const Call& call) {
  if (!g_sched.current->answered && g_inputs.recording())
    g_inputs.put_answer(call.number, check_of(call), {-EFAULT, 0}, nullptr, 0);
  if (!g_sched.current->answered && g_inputs.replaying())
    g_inputs.take_answer(call.number, check_of(call), nullptr, 0);
  if (g_sched.active && is_of_family(treatment_of(call.number))) g_poller.poll();
  return -EFAULT;
}

// isatty() and the like. libc asks so before the first output if that goes to a device: a run must
// not take more time because its output goes to /dev/null.
bool asks_for_terminal(const Call& call) {
  return call.number == SYS_ioctl && static_cast<unsigned>(call.a[1]) == TCGETS;
}

// Whether the kernel may refuse threads after it.
bool may_limit_threads(const Call& call) {
  switch (call.number) {
    case SYS_seccomp:
      return true;
    case SYS_prctl:
      return call.a[0] == PR_SET_SECCOMP;
    case SYS_setrlimit:
      return call.a[0] == RLIMIT_NPROC;
    case SYS_prlimit64:
      return call.a[1] == RLIMIT_NPROC && call.a[2] != 0;
    default:
      return false;
  }
}

// Calls are not part of the hash: which ones libc makes depends on what standard output is, for
// example. A replay that departs in a call is detected by the recorded answers.
long answer_call(Call call) {
  if (is_cancellation_point(call) && !is_without_cancel(call)) test_cancel();
  reach_call(call);
  note_lasting(call);
  if (CLEW_UNLIKELY(may_limit_threads(call))) leave_beginnings_to_kernel();
  const Treatment treatment = treatment_of(call.number);
  switch (treatment) {
    case Treatment::kUnknown:
      note_unknown_call(call.number);
      return to_kernel(call);
    case Treatment::kNative:
      return to_kernel(call);
    case Treatment::kHere:
      return answered_here(call);
    case Treatment::kTime:
      return time_call(call);
    case Treatment::kSignal:
      g_sched.pass_time(g_sched.at_speed(kNanosPerCall));
      return signal_call(call);
    default:
      break;
  }
  // Time does not pass for the calls above: a replay may make others of them.
  if (g_sched.active && !asks_for_terminal(call))
    g_sched.pass_time(g_sched.at_speed(kNanosPerCall));
  if (!g_inputs.replaying()) before_change(call);
  note_room(call);
  const long result = recorded_by_family(treatment, call);
  follow_change_of_files(call, result);
  if (g_sched.active) g_poller.poll();
  return result;
}

// Whether the call may send any signal to the program, possibly among other processes.
bool sends_signals(const Call& call) {
  return call.number == SYS_kill || call.number == SYS_mq_timedsend;
}

}  // namespace

void system_calls_init(abi::Control& control) {
  g_inputs.init(control);
  g_poller.init(control);
  begin_in_step(control);
  descriptors_init();
  const long number = answered(Call{SYS_gettid, {}}, [] { return raw_syscall(SYS_getpid); });
  set_main_number(*g_sched.current, static_cast<int>(number));
  if (catch_system_calls()) {
    make_vdso_call_kernel();
  } else {
    g_log.note(
        "this kernel cannot catch system calls (Linux 5.11 can): those that libraries make are "
        "neither recorded nor kept from blocking");
    control.lacks.fetch_or(abi::kLacksDispatch, std::memory_order_relaxed);
  }
  watch_time_stamp();
  watch_for_stuck_threads();
}

long system_call(const Call& call) {
  Fiber& self = *g_sched.current;
  self.answered = false;
  if (g_sched.active && is_of_family(treatment_of(call.number)) && !asks_for_terminal(call))
    tell_outside(call.number, call.a[0]);
  note_descriptors(call);
  if (__builtin_setjmp(self.guard) != 0) return bad_address(call);
  self.guarded = true;
  if (g_sched.active) order_sender(call);
  const long result = answer_call(call);
  if (g_sched.active) {
    self.guarded = false;
    order_receiver(call, result);
    if (result == kCancelled) act_on_cancel();
    // A signal that the call has caused is handled before it returns. Others can wait for a yield
    // point: libc may hold a lock here.
    const std::uint64_t brought = sends_signals(call) ? ~std::uint64_t{0} : kSentByCalls;
    if (CLEW_UNLIKELY(self.disturbed) && is_pending(self, brought & ~self.signals.mask))
      attend(self, kUndisturbed);
  }
  return result;
}

long with_errno(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace clew::rt
