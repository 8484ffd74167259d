// Signals, as far as they are modelled: masks are each thread's own, and the program's handlers run
// as they would natively, but no thread is preempted inside one.
#include <string.h>
#include <sys/syscall.h>

#include "runtime/fiber/raw_syscall.h"
#include "runtime/intercept/call.h"
#include "runtime/snapshot/reset.h"

using namespace clew::rt;

namespace {

struct Handler {
  void (*plain)(int);
  void (*with_info)(int, siginfo_t*, void*);
};
Handler g_handlers[NSIG];

// A handler may strike between points that are counted together and use points of its own: what it
// does is no event, and the countdown is afterwards what it was.
void on_signal(int signal, siginfo_t* info, void* context) {
  Fiber& fiber = *g_sched.current;
  const std::int64_t countdown = *fiber.countdown;
  const bool outermost = fiber.handlers == 0;
  if (outermost) g_sched.enter_handler();
  ++fiber.handlers;
  const Handler handler = g_handlers[signal];
  if (handler.with_info != nullptr) {
    handler.with_info(signal, info, context);
  } else {
    handler.plain(signal);
  }
  --fiber.handlers;
  if (outermost) g_sched.leave_handler(countdown);
}

bool is_function(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// The program sees the handlers that it installed, not ours.
void restore_view(int signal, struct sigaction* action) {
  if (action->sa_sigaction != on_signal) return;
  if (g_handlers[signal].with_info != nullptr) {
    action->sa_sigaction = g_handlers[signal].with_info;
  } else {
    action->sa_handler = g_handlers[signal].plain;
    action->sa_flags &= ~SA_SIGINFO;
  }
}

// A jump out of a handler ends it.
void leave_handlers() {
  Fiber& fiber = *g_sched.current;
  if (fiber.handlers == 0) return;
  fiber.handlers = 0;
  g_sched.leave_handler_by_jump();
}

}  // namespace

CLEW_EXPORT int sigaction(int signal, const struct sigaction* action,
                          struct sigaction* before) noexcept {
  if (!g_sched.active || signal < 1 || signal >= NSIG)
    return CLEW_REAL(sigaction)(signal, action, before);
  struct sigaction old;
  Handler handler{};
  struct sigaction ours;
  if (action != nullptr) {
    ours = *action;
    if (is_function(*action)) {
      if (action->sa_flags & SA_SIGINFO) {
        handler.with_info = action->sa_sigaction;
      } else {
        handler.plain = action->sa_handler;
      }
      ours.sa_sigaction = on_signal;
      ours.sa_flags |= SA_SIGINFO;
    }
  }
  const int result = CLEW_REAL(sigaction)(signal, action != nullptr ? &ours : nullptr, &old);
  if (result != 0) return result;
  restore_view(signal, &old);
  if (before != nullptr) *before = old;
  if (action != nullptr) {
    g_handlers[signal] = handler;
    note_signal_change(signal);
  }
  return 0;
}

CLEW_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (!g_sched.active) return CLEW_REAL(signal)(number, handler);
  struct sigaction action {
  }, before;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

CLEW_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const int error = CLEW_REAL(pthread_sigmask)(how, set, before);
  // The scheduler swaps masks only once threads begin to differ in them.
  if (g_sched.active && error == 0 && set != nullptr) g_sched.masks_in_use = true;
  return error;
}

CLEW_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const int error = pthread_sigmask(how, set, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

CLEW_EXPORT void siglongjmp(sigjmp_buf target, int value) noexcept {
  if (g_sched.active) leave_handlers();
  CLEW_REAL(siglongjmp)(target, value);
  __builtin_unreachable();
}

CLEW_EXPORT void longjmp(jmp_buf target, int value) noexcept {
  if (g_sched.active) leave_handlers();
  CLEW_REAL(longjmp)(target, value);
  __builtin_unreachable();
}
