// Signals that end a program: say where, then let it die of the signal as it would have.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/arena.h"
#include "runtime/fiber/raw_syscall.h"
#include "runtime/intercept/real.h"
#include "runtime/record/end.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"
#include "runtime/snapshot/server.h"

namespace clew::rt {
namespace {

constexpr int kFatalSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
constexpr std::size_t kStackSize = 256 * 1024;

int g_depth = 0;

void describe(char* out, std::size_t size, int signal, const siginfo_t* info) {
  const char* name = sigabbrev_np(signal);
  const auto address = reinterpret_cast<unsigned long>(info->si_addr);
  if (signal == SIGSEGV || signal == SIGBUS) {
    snprintf(out, size, "SIG%s at address 0x%lx", name, address);
  } else {
    snprintf(out, size, "SIG%s", name != nullptr ? name : "?");
  }
}

// A fault can strike between points that are counted together, where the clock is not exact;
// abort() is a call.
Clock clock_at(int signal) {
  return signal == SIGABRT ? g_sched.clock() : g_sched.last_certain_clock();
}

void on_crash(int signal, siginfo_t* info, void*) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  // A fault while reporting a fault: the stack is beyond reading. Die of the first.
  if (++g_depth == 1) {
    char detail[96];
    describe(detail, sizeof detail, signal, info);
    report_failure(abi::FailureKind::kSignal, detail);
    report_end(clock_at(signal));
    if (running_job()) finish_job(abi::JobEnd::kSignalled, signal, clock_at(signal));
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
    report_end(clock_at(signal));
    if (running_job()) finish_job(abi::JobEnd::kSignalled, signal, clock_at(signal));
  }
  CLEW_REAL(sigaction)(signal, &standard, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  CLEW_REAL(pthread_sigmask)(SIG_UNBLOCK, &set, nullptr);
  const long pid = raw_syscall(SYS_getpid);
  raw_syscall(SYS_tgkill, pid, raw_syscall(SYS_gettid), signal);
}

}  // namespace

void install_crash_handlers() {
  stack_t stack{};
  stack.ss_sp = arena_alloc(kStackSize);
  stack.ss_size = kStackSize;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : kFatalSignals) CLEW_REAL(sigaction)(signal, &action, nullptr);
}

}  // namespace clew::rt
