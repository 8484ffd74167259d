// libc's syscall(), through which libstdc++ reaches the futex, and who runs where.
#include <linux/futex.h>
#include <sys/syscall.h>

#include "runtime/intercept/call.h"
#include "runtime/raw_syscall.h"
#include "runtime/syscall/system_call.h"
#include "runtime/thread/scheduling.h"
#include "runtime/time/deadline.h"

using namespace clew::rt;

CLEW_INTERPOSE pid_t gettid() noexcept {
  if (!g_sched.active) return CLEW_REAL(gettid)();
  return g_sched.current->number;
}

CLEW_INTERPOSE int sched_getcpu() noexcept {
  return g_sched.active ? processor_of(*g_sched.current) : CLEW_REAL(sched_getcpu)();
}

// Variadic in libc's header; six register arguments are what the kernel takes.
CLEW_INTERPOSE long interposed_syscall(long number, long a, long b, long c, long d, long e,
                                       long f) noexcept asm("clew_own_syscall");

long interposed_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (!g_sched.active) {
    // C++'s timed waits; the only operation of libstdc++'s whose time is absolute.
    const bool until = number == SYS_futex && (b & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    const clockid_t clock = (b & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const ForKernel deadline(clock, until ? reinterpret_cast<const timespec*>(d) : nullptr);
    const timespec* time = deadline;
    return with_errno(raw_syscall(number, a, b, c, until ? reinterpret_cast<long>(time) : d, e, f));
  }
  if (number == SYS_futex) {
    // A wait compares the word: it reads it; what wakes does not.
    const long operation_code = b & FUTEX_CMD_MASK;
    const bool waits = operation_code == FUTEX_WAIT || operation_code == FUTEX_WAIT_BITSET;
    enter(operation("futex"), CLEW_CALLER,
          {waits ? clew::abi::StepKind::kWait : clew::abi::StepKind::kSignal,
           reinterpret_cast<void*>(a)});
  } else if (number == SYS_sched_yield) {
    enter(operation("sched_yield"), CLEW_CALLER);
  } else {
    *g_sched.current->call_site = nullptr;
  }
  const long result = system_call(Call{number, {a, b, c, d, e, f}});
  if (number == SYS_futex) g_hash.fold(static_cast<std::uint64_t>(result));
  return with_errno(result);
}
