// Leaving a signal handler by a jump. What else there is to signals are system calls
// (signal/signals.h).
#include "runtime/fiber/context.h"
#include "runtime/intercept/call.h"

using namespace clew::rt;

namespace {

// The jump goes up the stack: waits that were interrupted there are over, and so is the handler of
// a fault, which nobody was preempted in.
void leave_for(const __jmp_buf_tag* target) {
  Fiber& fiber = *g_sched.current;
  fiber.guarded = false;
  constexpr int kStackPointer = 6;  // glibc's JB_RSP
  g_sched.abandon_waits_below(
      clew_demangle_pointer(static_cast<std::uintptr_t>(target->__jmpbuf[kStackPointer])));
  fiber.interruptions = 0;
  if (fiber.handlers == 0) return;
  fiber.handlers = 0;
  g_sched.leave_handler_by_jump();
}

}  // namespace

CLEW_EXPORT void siglongjmp(sigjmp_buf target, int value) noexcept {
  if (g_sched.active) leave_for(target);
  CLEW_REAL(siglongjmp)(target, value);
  __builtin_unreachable();
}

CLEW_EXPORT void longjmp(jmp_buf target, int value) noexcept {
  if (g_sched.active) leave_for(target);
  CLEW_REAL(longjmp)(target, value);
  __builtin_unreachable();
}
