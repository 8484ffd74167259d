// Signals that end a program: say where, then let it die of the signal as it would have.
#include "runtime/record/crash.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/fiber/own_stack.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/end.h"
#include "runtime/record/job.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

int g_depth = 0;

void describe(char* out, std::size_t size, int signal, const siginfo_t& info,
              std::uintptr_t stack) {
  const char* name = sigabbrev_np(signal);
  const auto address = reinterpret_cast<unsigned long>(info.si_addr);
  if ((signal == SIGSEGV || signal == SIGBUS) && info.si_code > 0) {
    const bool is_at_end = stack != 0 && is_stack_overflow(info, stack);
    snprintf(out, size, "SIG%s at address 0x%lx%s", name, address,
             is_at_end ? ", beyond the end of the stack" : "");
  } else if (name != nullptr) {
    snprintf(out, size, "SIG%s", name);
  } else {
    snprintf(out, size, "signal %d", signal);
  }
}

// A fault can occur between points that are counted together, where the clock is not exact; abort()
// and kill() are calls, where it is.
Clock clock_at(const siginfo_t& info) {
  return info.si_code > 0 ? g_sched.last_certain_clock() : g_sched.clock();
}

}  // namespace

void die_of(int signal, const siginfo_t& info, std::uintptr_t stack) {
  // A second fault while the first is reported: the stack cannot be read.
  if (++g_depth == 1) {
    char detail[96];
    describe(detail, sizeof detail, signal, info, stack);
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
  constexpr std::uint64_t kStandard[4] = {};  // the kernel's struct sigaction
  raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(kStandard), 0, 8);
  const std::uint64_t none = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&none), 0, sizeof none);
  raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal);
  raw_syscall(SYS_exit_group, 128 + signal);
  __builtin_unreachable();
}

}  // namespace clew::rt
