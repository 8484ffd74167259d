// Sending signals and waiting for any, as yield points, leaving their handlers by a jump, and saying
// what is to be done with them. The other functions about signals make system calls that are caught
// (syscall/signal_calls.cc).
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include "runtime/fiber/context.h"
#include "runtime/intercept/call.h"
#include "runtime/intercept/thread.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/record/end.h"
#include "runtime/signal/signals.h"
#include "runtime/syscall/system_call.h"
#include "runtime/translate/translate.h"

using namespace clew::rt;

// What those that send signals and those that wait for any have in common, whichever thread it is
// sent to. Reports have words for it.
static char clew_signals;
static constexpr Intent kSends{clew::abi::StepKind::kSignal, &clew_signals};
static constexpr Intent kWaits{clew::abi::StepKind::kWait, &clew_signals};

namespace {

// The jump leaves frames of the stack: waits that were interrupted there end, and so does the
// handler of a fault, in which no thread was preempted.
void leave_for(const __jmp_buf_tag* target) {
  Fiber& fiber = *g_sched.current;
  fiber.guarded = false;
  constexpr int kStackPointer = 6;  // glibc's JB_RSP
  const std::uintptr_t stack =
      clew_demangle_pointer(static_cast<std::uintptr_t>(target->__jmpbuf[kStackPointer]));
  for (; fiber.calls != nullptr && fiber.calls->stack < stack; fiber.calls = fiber.calls->outer) {
    clew_own_top = fiber.calls->own_top;
    *fiber.calls->way_back = 0;  // a place of the runtime's
  }
  g_sched.abandon_waits_below(stack, clew_own_top);
  forget_symptom_below(stack);
  fiber.interruptions = 0;
  if (fiber.handlers == 0) return;
  fiber.handlers = 0;
  g_sched.leave_handler_by_jump();
}

// libc sends the signal, and its system call is caught. But libc does not know whether the thread
// has ended: then, since glibc 2.34, nothing happens.
std::optional<int> without_thread(pthread_t handle) {
  const Fiber* fiber = g_sched.threads.find(handle);
  if (fiber == nullptr) return ESRCH;
  if (fiber->state == FiberState::kFinished) return 0;
  return std::nullopt;
}

}  // namespace

namespace {

constexpr unsigned long kRestorer = 0x04000000;  // SA_RESTORER, which libc sets
// Of libc's own use.
constexpr int kLibcCancels = 32;
constexpr int kLibcChangesIds = 33;

Action kernels(const struct sigaction& action) {
  Action result{reinterpret_cast<void*>(action.sa_handler),
                static_cast<unsigned>(action.sa_flags) | kRestorer, nullptr, 0};
  memcpy(&result.mask, &action.sa_mask, sizeof result.mask);
  return result;
}

void fill(struct sigaction& to, const Action& action) {
  to.sa_handler = reinterpret_cast<sighandler_t>(action.handler);
  memcpy(&to.sa_mask, &action.mask, sizeof action.mask);
  to.sa_flags = static_cast<int>(action.flags);
  to.sa_restorer = action.restorer;
}

}  // namespace

// No yield points, as they are none when the calls that libc makes are caught. Test frameworks make
// dozens of them in each run, to see crashes: as calls they take 0.5 microseconds each, caught 2.3.
CLEW_INTERPOSE int sigaction(int signal, const struct sigaction* wanted,
                             struct sigaction* before) noexcept {
  if (!g_sched.active || !calls_are_caught()) return CLEW_REAL(sigaction)(signal, wanted, before);
  if (signal == kLibcCancels || signal == kLibcChangesIds)
    return static_cast<int>(with_errno(-EINVAL));
  Action to{};
  Action from{};
  if (wanted != nullptr) to = kernels(*wanted);
  const long result = system_call(SYS_rt_sigaction, signal, wanted != nullptr ? &to : nullptr,
                                  before != nullptr ? &from : nullptr, kSignalSetSize);
  if (result == 0 && before != nullptr) fill(*before, from);
  return static_cast<int>(with_errno(result));
}

CLEW_INTERPOSE int sigaltstack(const stack_t* wanted, stack_t* before) noexcept {
  if (!g_sched.active || !calls_are_caught()) return CLEW_REAL(sigaltstack)(wanted, before);
  return static_cast<int>(with_errno(system_call(SYS_sigaltstack, wanted, before)));
}

CLEW_INTERPOSE int kill(pid_t process, int signal) noexcept {
  CLEW_ENTER_WITH(kSends, kill, process, signal);
  return CLEW_REAL(kill)(process, signal);
}

CLEW_INTERPOSE int sigqueue(pid_t process, int signal, const sigval value) noexcept {
  CLEW_ENTER_WITH(kSends, sigqueue, process, signal, value);
  return CLEW_REAL(sigqueue)(process, signal, value);
}

CLEW_INTERPOSE int pthread_kill(pthread_t handle, int signal) noexcept {
  CLEW_ENTER_WITH(kSends, pthread_kill, handle, signal);
  if (const auto answer = without_thread(handle)) return *answer;
  return CLEW_REAL(pthread_kill)(handle, signal);
}

CLEW_INTERPOSE int pthread_sigqueue(pthread_t handle, int signal, const sigval value) noexcept {
  CLEW_ENTER_WITH(kSends, pthread_sigqueue, handle, signal, value);
  if (const auto answer = without_thread(handle)) return *answer;
  return CLEW_REAL(pthread_sigqueue)(handle, signal, value);
}

// A signal that arrives between the program's last look at what its handler sets and the wait does
// not end the wait. It is delivered at the yield point.
CLEW_INTERPOSE int pause() {
  CLEW_ENTER_WITH(kWaits, pause);
  return CLEW_REAL(pause)();
}

CLEW_INTERPOSE int sigsuspend(const sigset_t* mask) {
  CLEW_ENTER_WITH(kWaits, sigsuspend, mask);
  return CLEW_REAL(sigsuspend)(mask);
}

namespace {

// In libc's code, as the program would have called it: a translated run stays translated.
[[noreturn]] void jump(void (*by)(__jmp_buf_tag*, int), __jmp_buf_tag* target, int value) {
  clew_call_function(reinterpret_cast<void*>(by), reinterpret_cast<long>(target), value, 0);
  __builtin_unreachable();
}

}  // namespace

CLEW_EXPORT void siglongjmp(sigjmp_buf target, int value) noexcept {
  if (g_sched.active) leave_for(target);
  jump(CLEW_REAL(siglongjmp), target, value);
}

CLEW_EXPORT void longjmp(jmp_buf target, int value) noexcept {
  if (g_sched.active) leave_for(target);
  jump(CLEW_REAL(longjmp), target, value);
}

CLEW_EXPORT void __longjmp_chk(__jmp_buf_tag* target, int value) noexcept {
  if (g_sched.active) leave_for(target);
  jump(CLEW_REAL(__longjmp_chk), target, value);
}
