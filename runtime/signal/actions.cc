// What the program wants to be done with signals, and what the kernel is told of it.
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/fiber/signal_stack.h"
#include "runtime/keep.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/attend.h"
#include "runtime/signal/callbacks.h"
#include "runtime/signal/faults.h"
#include "runtime/signal/signals.h"
#include "runtime/signal/stuck.h"

namespace clew::rt {

constinit SignalCallbacks g_signal_callbacks;

namespace {

Action g_actions[NSIG];
std::uint64_t g_ever_blocked = 0;

bool is_function(const void* handler) {
  return handler != reinterpret_cast<void*>(SIG_DFL) && handler != reinterpret_cast<void*>(SIG_IGN);
}

// A signal has come from outside, or from the kernel on behalf of a call (SIGPIPE).
void on_arrival(int, siginfo_t* info, void*) { note_arrived(*info); }

// Such a signal has come, and the program dies of it: after the call that caused it, whose answer
// is recorded by then, but at once if another process has sent it.
void on_arrival_of_end(int signal, siginfo_t* info, void*) {
  if (g_sched.active && is_sent_by_call(*info)) return note_arrived(*info);
  const Action plain{};
  raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(&plain), 0, kSignalSetSize);
  raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal);
}

void tell_kernel(int signal) {
  const bool comes_at_once = is_fault(signal) || signal == SIGSYS;
  if (comes_at_once && is_function(g_actions[signal].handler)) g_signal_callbacks.expect_signals();
  if (signal == SIGKILL || signal == SIGSTOP || comes_at_once || signal == kStuckSignal) return;
  const bool ignored = g_actions[signal].handler == reinterpret_cast<void*>(SIG_IGN);
  const unsigned long of_children = g_actions[signal].flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
  const bool ours_to_see =
      is_function(g_actions[signal].handler) || (g_ever_blocked & bit_of(signal)) != 0;
  if (ours_to_see && !ignored) {
    install_handler(signal, on_arrival, SA_RESTART | of_children, ~bit_of(SIGSYS));
    g_signal_callbacks.expect_signals();
  } else if (!ignored && (kSentByCalls & bit_of(signal)) != 0) {
    install_handler(signal, on_arrival_of_end, SA_RESTART, ~bit_of(SIGSYS));
  } else {
    Action plain{};
    plain.handler = reinterpret_cast<void*>(ignored ? SIG_IGN : SIG_DFL);
    plain.flags = of_children;
    raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(&plain), 0, kSignalSetSize);
  }
  if (keep_ready) kept().changed_signals |= bit_of(signal);
}

// Libraries block everything for a moment (sanitizers all but a dozen signals), which says nothing
// about a single signal.
bool is_everything(std::uint64_t set) {
  constexpr int kExceptions = 16;
  return __builtin_popcountll(set) >= NSIG - 1 - kExceptions;
}

void set_mask(Fiber& self, std::uint64_t mask) {
  mask &= ~kUnblockable;
  const std::uint64_t first_time = mask & ~g_ever_blocked;
  const std::uint64_t freed = self.signals.mask & ~mask;
  const std::uint64_t added = mask & ~self.signals.mask;
  self.signals.mask = mask;
  if (first_time != 0 && !is_everything(first_time)) {
    g_ever_blocked |= first_time;
    for (int signal = 1; signal < NSIG; ++signal)
      if ((first_time & bit_of(signal)) != 0) tell_kernel(signal);
  }
  if (freed != 0 && is_pending(self, freed)) self.disturbed = true;
  if (added != 0) distribute_pending();
}

}  // namespace

void install_handler(int signal, SignalHandler handler, unsigned long flags, std::uint64_t mask) {
  constexpr unsigned long kRestorer = 0x04000000;  // SA_RESTORER
  set_signal_handler(signal, handler);
  const Action action{reinterpret_cast<void*>(clew_signal_entry),
                      flags | SA_SIGINFO | SA_ONSTACK | kRestorer, clew_signal_return, mask};
  raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(&action), 0, kSignalSetSize);
}

long change_action(int signal, const Action* wanted, Action* before) {
  if (signal < 1 || signal >= NSIG ||
      ((signal == SIGKILL || signal == SIGSTOP) && wanted != nullptr))
    return -EINVAL;
  if (before != nullptr) *before = g_actions[signal];
  if (wanted == nullptr) return 0;
  g_actions[signal] = *wanted;
  g_actions[signal].mask &= ~kUnblockable;
  tell_kernel(signal);
  discard_if_ignored(signal);
  return 0;
}

long change_mask(long how, const std::uint64_t* set, std::uint64_t* before) {
  Fiber& self = *g_sched.current;
  const std::uint64_t old = self.signals.mask;
  if (set != nullptr) {
    const std::uint64_t given = *set;
    if (how == SIG_BLOCK) {
      set_mask(self, old | given);
    } else if (how == SIG_UNBLOCK) {
      set_mask(self, old & ~given);
    } else if (how == SIG_SETMASK) {
      set_mask(self, given);
    } else {
      return -EINVAL;
    }
  }
  if (before != nullptr) *before = old;
  if (self.disturbed) attend(self, kUndisturbed);
  return 0;
}

long change_stack(const stack_t* wanted, stack_t* before) {
  SignalState& signals = g_sched.current->signals;
  const std::uintptr_t here = program_stack_pointer();
  const auto bottom = reinterpret_cast<std::uintptr_t>(signals.stack.ss_sp);
  const bool set = (signals.stack.ss_flags & SS_DISABLE) == 0 && signals.stack.ss_size != 0;
  const bool on_it = set && here >= bottom && here < bottom + signals.stack.ss_size;
  if (before != nullptr) {
    *before = signals.stack;
    before->ss_flags = !set ? SS_DISABLE : on_it ? SS_ONSTACK : 0;
  }
  if (wanted == nullptr) return 0;
  if (on_it) return -EPERM;
  constexpr int kAutoDisarm = static_cast<int>(1u << 31);
  const int mode = wanted->ss_flags & ~kAutoDisarm;
  if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0) return -EINVAL;
  if (mode == SS_DISABLE) {
    signals.stack = {};
    signals.stack.ss_flags = SS_DISABLE;
    return 0;
  }
  constexpr std::size_t kSmallest = 2048;  // the kernel's MINSIGSTKSZ
  if (wanted->ss_size < kSmallest) return -ENOMEM;
  signals.stack = *wanted;
  return 0;
}

// What the kernel was told while calls were not caught.
void adopt_handler(int signal) {
  Action action{};
  raw_syscall(SYS_rt_sigaction, signal, 0, reinterpret_cast<long>(&action), kSignalSetSize);
  if (!is_function(action.handler)) return;
  g_actions[signal] = action;
  tell_kernel(signal);
}

const Action& action_of(int signal) { return g_actions[signal]; }

bool has_handler(int signal) { return is_function(g_actions[signal].handler); }

void reset_action(int signal) {
  g_actions[signal].handler = reinterpret_cast<void*>(SIG_DFL);
  tell_kernel(signal);
}

TemporaryMask::TemporaryMask(const std::uint64_t* mask) {
  if (mask == nullptr) return;
  Fiber& self = *g_sched.current;
  set_ = true;
  before_ = self.signals.mask;
  set_mask(self, *mask);
}

TemporaryMask::~TemporaryMask() {
  if (set_) set_mask(*g_sched.current, before_);
}

void adopt_handlers(Fiber& main) {
  for (int signal = 1; signal < NSIG; ++signal) adopt_handler(signal);
  stack_t stack{};
  raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&stack));
  if ((stack.ss_flags & SS_DISABLE) == 0) main.signals.stack = stack;
}

void inherit_signals(const abi::Control& control, Fiber& main) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if ((control.ignored_signals & bit_of(signal)) == 0) continue;
    g_actions[signal].handler = reinterpret_cast<void*>(SIG_IGN);
    tell_kernel(signal);
  }
  for (int signal = 1; signal < NSIG; ++signal)
    if ((kSentByCalls & bit_of(signal)) != 0) tell_kernel(signal);
  if (control.blocked_signals != 0) set_mask(main, control.blocked_signals);
  if ((control.flags & abi::kFlagChild) != 0) g_signal_callbacks.expect_signals();
  const std::uint64_t none = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&none), 0, kSignalSetSize);
}

void hand_signals_to_kernel(const Fiber& self) {
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(&g_actions[signal]), 0,
                kSignalSetSize);
  }
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&self.signals.mask), 0,
              kSignalSetSize);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  const stack_t& stack = self.signals.stack.ss_size != 0 ? self.signals.stack : none;
  raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(&stack), 0);
}

KernelSignals::KernelSignals() {
  for (int signal = 1; signal < NSIG; ++signal)
    raw_syscall(SYS_rt_sigaction, signal, 0, reinterpret_cast<long>(&actions_[signal]),
                kSignalSetSize);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, 0, reinterpret_cast<long>(&mask_), kSignalSetSize);
  raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&stack_));
}

void KernelSignals::restore() const {
  for (int signal = 1; signal < NSIG; ++signal)
    raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(&actions_[signal]), 0,
                kSignalSetSize);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask_), 0, kSignalSetSize);
  raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(&stack_), 0);
}

}  // namespace clew::rt
