#include "runtime/signal/faults.h"

#include <ucontext.h>

#include "runtime/detect/plug_in.h"
#include "runtime/fiber/own_stack.h"
#include "runtime/record/crash.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/signals.h"
#include "runtime/time/time_stamp.h"

namespace clew::rt {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

// Calls the program's own handler.
void call_program(int signal, siginfo_t* info, void* context) {
  Fiber& fiber = *g_sched.current;
  const std::int64_t left = g_sched.left_of_countdown();
  const bool outermost = fiber.handlers == 0;
  if (outermost) g_sched.enter_handler();
  ++fiber.handlers;
  run_handler(fiber, signal, *info, context);
  --fiber.handlers;
  if (outermost) g_sched.leave_handler(left);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (CLEW_UNLIKELY(running_plug_in() != nullptr)) end_crashed_plug_in();
  // One that another process has sent is handled like any other signal.
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
  die_of(signal, *info, stack);
}

}  // namespace

bool is_fault(int signal) {
  for (const int fault : kFaults)
    if (fault == signal) return true;
  return false;
}

void install_fault_handlers() {
  install_signal_stack();
  for (const int signal : kFaults) install_handler(signal, on_fault, SA_NODEFER);
}

}  // namespace clew::rt
