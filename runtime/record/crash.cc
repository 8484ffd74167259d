// Signals that end a program: say where, then let it die of the signal as it would have.
#include "runtime/record/crash.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/fiber/own_stack.h"
#include "runtime/outside/time_stamp.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/end.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/internal.h"
#include "runtime/snapshot/server.h"

namespace clew::rt {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

int g_depth = 0;

void describe(char* out, std::size_t size, int signal, const siginfo_t& info) {
  const char* name = sigabbrev_np(signal);
  const auto address = reinterpret_cast<unsigned long>(info.si_addr);
  if ((signal == SIGSEGV || signal == SIGBUS) && info.si_code > 0) {
    snprintf(out, size, "SIG%s at address 0x%lx", name, address);
  } else if (name != nullptr) {
    snprintf(out, size, "SIG%s", name);
  } else {
    snprintf(out, size, "signal %d", signal);
  }
}

// A fault can strike between points that are counted together, where the clock is not exact;
// abort() and kill() are calls.
Clock clock_at(const siginfo_t& info) {
  return info.si_code > 0 ? g_sched.last_certain_clock() : g_sched.clock();
}

// The program's own handler.
void call_program(int signal, siginfo_t* info, void* context) {
  Fiber& fiber = *g_sched.current;
  const std::int64_t countdown = *fiber.countdown;
  const bool outermost = fiber.handlers == 0;
  if (outermost) g_sched.enter_handler();
  ++fiber.handlers;
  run_handler(fiber, signal, *info, context);
  --fiber.handlers;
  if (outermost) g_sched.leave_handler(countdown);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  // Another process has sent it: it is attended to like any other signal.
  const bool is_sent = info->si_code <= 0;
  if (is_sent && g_sched.active && has_handler(signal)) return note_arrived(*info);
  if (signal == SIGSEGV && stand_in_for_time_stamp(*static_cast<ucontext_t*>(context))) return;
  Fiber& self = *g_sched.current;
  if (self.guarded && (signal == SIGSEGV || signal == SIGBUS)) {
    self.guarded = false;
    __builtin_longjmp(self.guard, 1);
  }
  const bool blocked = (self.signals.mask & bit_of(signal)) != 0;
  const bool has_stack = self.signals.stack.ss_size != 0 && (action_of(signal).flags & SA_ONSTACK);
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const auto stack = static_cast<std::uintptr_t>(registers[REG_RSP]);
  if (has_handler(signal) && !blocked && (has_stack || !is_stack_overflow(*info, stack)))
    return call_program(signal, info, context);
  die_of(signal, *info);
}

}  // namespace

bool is_fault(int signal) {
  for (const int fault : kFaults)
    if (fault == signal) return true;
  return false;
}

void die_of(int signal, const siginfo_t& info) {
  // A fault while reporting a fault: the stack is beyond reading. Die of the first.
  if (++g_depth == 1) {
    char detail[96];
    describe(detail, sizeof detail, signal, info);
    report_failure(abi::FailureKind::kSignal, detail);
    report_end(clock_at(info));
    if (running_job()) finish_job(abi::JobEnd::kSignalled, signal, clock_at(info));
  } else if (g_depth == 2) {
    Payload payload;
    payload.number(static_cast<std::uint64_t>(abi::FailureKind::kSignal))
        .number(g_sched.current->index)
        .text("crashed, and the stack could not be read")
        .text("")
        .number(0)
        .text("")
        .number(0);
    g_log.message(abi::MessageType::kFailure, payload);
    report_end(clock_at(info));
    if (running_job()) finish_job(abi::JobEnd::kSignalled, signal, clock_at(info));
  }
  report_status(signal);
  const Action standard{};
  raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(&standard), 0, 8);
  const std::uint64_t none = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&none), 0, sizeof none);
  raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal);
  raw_syscall(SYS_exit_group, 128 + signal);
  __builtin_unreachable();
}

void install_crash_handlers() {
  install_signal_stack();
  for (const int signal : kFaults) install_handler(signal, on_fault, SA_NODEFER);
}

}  // namespace clew::rt
