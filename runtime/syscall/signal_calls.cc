// The system calls about signals.
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "runtime/outside/signal_descriptors.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/attend.h"
#include "runtime/signal/cancel.h"
#include "runtime/signal/signals.h"
#include "runtime/syscall/families.h"
#include "runtime/time/deadline.h"

namespace clew::rt {
namespace {

long wait_for_signal(std::uint64_t set, siginfo_t* out, const timespec* timeout) {
  Fiber& self = *g_sched.current;
  if (timeout != nullptr && !is_duration(*timeout)) return -EINVAL;
  const Nanos deadline = timeout != nullptr ? deadline_after(*timeout) : kForever;
  set &= ~kUnblockable;
  siginfo_t info{};
  if (!take_pending(self, set, info)) {
    g_poller.poll();
    if (!take_pending(self, set, info)) {
      if (deadline <= g_sched.now()) return -EAGAIN;
      self.signals.waited_for = set;
      const Woke woke =
          g_sched.block(abi::WaitKind::kSignal, nullptr, deadline, kSignalsAlways | kCancel);
      self.signals.waited_for = 0;
      if (woke == Woke::kByCancel) return kCancelled;
      if (!take_pending(self, set, info)) return woke == Woke::kByTime ? -EAGAIN : -EINTR;
    }
  }
  if (out != nullptr) *out = info;
  return info.si_signo;
}

long suspend(const std::uint64_t* mask) {
  TemporaryMask temporary(mask);
  const Woke woke =
      g_sched.block(abi::WaitKind::kSignal, nullptr, kForever, kSignalsAlways | kCancel);
  return woke == Woke::kByCancel ? kCancelled : -EINTR;
}

siginfo_t info_of_sender(int signal, int code) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = code;
  info.si_pid = g_sched.process;
  info.si_uid = static_cast<unsigned>(raw_syscall(SYS_getuid));
  return info;
}

Fiber* thread_with(long number) {
  Fiber* found = nullptr;
  g_sched.threads.for_each_living([&](Fiber& fiber) {
    if (fiber.number == number) found = &fiber;
  });
  return found;
}

// The signal by which libc makes every thread change its ids (initgroups, which is not interposed).
// Its pthread_create installs the handler.
constexpr int kChangeIds = 33;

// Sends to a thread of this program, by the number that gettid() returned.
long send_to_thread(long number, int signal, siginfo_t info) {
  if (number <= 0) return -EINVAL;
  Fiber* fiber = thread_with(number);
  if (fiber == nullptr) return -ESRCH;
  if (signal == kChangeIds && !has_handler(signal)) adopt_handler(signal);
  if (signal < 0 || signal >= NSIG) return -EINVAL;
  if (signal == 0) return 0;
  const long result = post(info, fiber);
  if (fiber == g_sched.current && fiber->disturbed) attend(*fiber, kUndisturbed);
  return result;
}

long send_to_program(int signal, siginfo_t info) {
  if (signal < 0 || signal >= NSIG) return -EINVAL;
  if (signal == 0) return 0;
  if (signal == SIGKILL) return raw_syscall(SYS_kill, raw_syscall(SYS_getpid), signal);
  const long result = post(info, nullptr);
  if (g_sched.current->disturbed) attend(*g_sched.current, kUndisturbed);
  return result;
}

// Signals to other processes are left to the kernel.
bool is_for_another_process(const Call& call) {
  const bool by_process = call.number == SYS_kill || call.number == SYS_tgkill ||
                          call.number == SYS_rt_sigqueueinfo ||
                          call.number == SYS_rt_tgsigqueueinfo;
  if (!by_process || call.a[0] == g_sched.process) return false;
  // The kernel takes the number of any thread for that of its process.
  const bool by_any_thread = call.number == SYS_kill || call.number == SYS_rt_sigqueueinfo;
  return !(by_any_thread && thread_with(call.a[0]) != nullptr);
}

template <class T>
T* pointer(long a) {
  return reinterpret_cast<T*>(a);
}

}  // namespace

long signal_call(const Call& call) {
  const long(&a)[6] = call.a;
  if (is_for_another_process(call)) {
    const long result = recorded(call);
    g_poller.poll();  // this process may be one of several
    return result;
  }
  switch (call.number) {
    case SYS_signalfd:
    case SYS_signalfd4:
      return signal_descriptor_call(call);
    case SYS_rt_sigaction:
      return a[3] == kSignalSetSize ? change_action(static_cast<int>(a[0]), pointer<Action>(a[1]),
                                                    pointer<Action>(a[2]))
                                    : -EINVAL;
    case SYS_rt_sigprocmask:
      return a[3] == kSignalSetSize
                 ? change_mask(a[0], pointer<std::uint64_t>(a[1]), pointer<std::uint64_t>(a[2]))
                 : -EINVAL;
    case SYS_rt_sigpending:
      if (a[1] > kSignalSetSize) return -EINVAL;
      g_poller.poll();
      *pointer<std::uint64_t>(a[0]) = pending_set(*g_sched.current) & g_sched.current->signals.mask;
      return 0;
    case SYS_rt_sigtimedwait:
      if (a[3] != kSignalSetSize) return -EINVAL;
      return wait_for_signal(*pointer<std::uint64_t>(a[0]), pointer<siginfo_t>(a[1]),
                             pointer<timespec>(a[2]));
    case SYS_rt_sigsuspend:
      if (a[1] != kSignalSetSize) return -EINVAL;
      return suspend(pointer<std::uint64_t>(a[0]));
    case SYS_pause:
      return suspend(nullptr);
    case SYS_sigaltstack:
      return change_stack(pointer<stack_t>(a[0]), pointer<stack_t>(a[1]));
    case SYS_tgkill:
      return send_to_thread(static_cast<int>(a[1]), static_cast<int>(a[2]),
                            info_of_sender(static_cast<int>(a[2]), SI_TKILL));
    case SYS_tkill:
      return send_to_thread(static_cast<int>(a[0]), static_cast<int>(a[1]),
                            info_of_sender(static_cast<int>(a[1]), SI_TKILL));
    case SYS_kill:
      return send_to_program(static_cast<int>(a[1]),
                             info_of_sender(static_cast<int>(a[1]), SI_USER));
    case SYS_rt_sigqueueinfo: {
      siginfo_t info = *pointer<siginfo_t>(a[2]);
      info.si_signo = static_cast<int>(a[1]);
      return send_to_program(static_cast<int>(a[1]), info);
    }
    case SYS_rt_tgsigqueueinfo: {
      siginfo_t info = *pointer<siginfo_t>(a[3]);
      info.si_signo = static_cast<int>(a[2]);
      return send_to_thread(static_cast<int>(a[1]), static_cast<int>(a[2]), info);
    }
    default:
      return -ENOSYS;
  }
}

std::size_t most_pending_signals() {
  const long most = answered(Call{SYS_getrlimit, {}}, [] {
    rlimit limit{};
    raw_syscall(SYS_getrlimit, RLIMIT_SIGPENDING, reinterpret_cast<long>(&limit));
    return static_cast<long>(limit.rlim_cur < kForever ? limit.rlim_cur : kForever);
  });
  return most > 0 ? static_cast<std::size_t>(most) : 0;
}

}  // namespace clew::rt
