// libc's syscall(): libstdc++ reaches the futex through it.
#include <linux/futex.h>
#include <sys/syscall.h>

#include "runtime/fiber/raw_syscall.h"
#include "runtime/intercept/call.h"
#include "runtime/intercept/init.h"
#include "runtime/record/end.h"
#include "runtime/sync/models.h"

using namespace clew::rt;

namespace {

// The number of a thread as gettid() would tell it: above what a kernel hands out, the same in
// every run.
long thread_number() { return (1l << 22) + 1 + g_sched.current->index; }

long to_errno(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

CLEW_EXPORT pid_t gettid() noexcept {
  if (!g_sched.active) return CLEW_REAL(gettid)();
  return static_cast<pid_t>(thread_number());
}

CLEW_EXPORT int sched_getcpu() noexcept { return g_sched.active ? 0 : CLEW_REAL(sched_getcpu)(); }

// Variadic in libc's header; six register arguments are what the kernel takes.
CLEW_EXPORT long interposed_syscall(long number, long a, long b, long c, long d, long e,
                                    long f) noexcept asm("syscall");

long interposed_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (!g_sched.active) return to_errno(raw_syscall(number, a, b, c, d, e, f));
  switch (number) {
    case SYS_futex: {
      // A wait compares the word: it reads it; what wakes does not.
      const bool waits =
          (b & FUTEX_CMD_MASK) == FUTEX_WAIT || (b & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
      enter(operation("futex"), CLEW_CALLER,
            {waits ? clew::abi::StepKind::kWait : clew::abi::StepKind::kSignal,
             reinterpret_cast<void*>(a)});
      const long result = futex(reinterpret_cast<std::uint32_t*>(a), static_cast<int>(b),
                                static_cast<std::uint32_t>(c), reinterpret_cast<const timespec*>(d),
                                reinterpret_cast<std::uint32_t*>(e), static_cast<std::uint32_t>(f));
      g_log.fold(static_cast<std::uint64_t>(result));
      return to_errno(result);
    }
    case SYS_gettid:
      return thread_number();
    case SYS_sched_yield:
      enter(operation("sched_yield"), CLEW_CALLER);
      g_sched.yield_voluntarily();
      return 0;
    case SYS_clock_gettime:
      return clock_gettime(static_cast<clockid_t>(a), reinterpret_cast<timespec*>(b));
    case SYS_gettimeofday:
      return gettimeofday(reinterpret_cast<timeval*>(a), reinterpret_cast<void*>(b));
    case SYS_getrandom:
      random_bytes(reinterpret_cast<void*>(a), static_cast<std::size_t>(b));
      return b;
    case SYS_nanosleep:
      return nanosleep(reinterpret_cast<const timespec*>(a), reinterpret_cast<timespec*>(b));
    case SYS_exit_group:
      _exit(static_cast<int>(a));
    case SYS_exit:
      end_unsupported("syscall(SYS_exit)");
    case SYS_fork:
    case SYS_vfork:
    case SYS_clone:
    case SYS_clone3:
      end_unsupported("syscall(SYS_clone)");
    case SYS_execve:
      end_unsupported("syscall(SYS_execve)");
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      end_unsupported("waiting for descriptors through syscall()");
    case SYS_io_uring_setup:
      end_unsupported("io_uring");
    default:
      *g_sched.current->call_site = nullptr;
      return to_errno(raw_syscall(number, a, b, c, d, e, f));
  }
}
