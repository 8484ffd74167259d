// Clocks and sleeps. Time is virtual; a sleep costs none of the real one.
#include <limits.h>

#include "runtime/intercept/call.h"
#include "runtime/record/end.h"
#include "runtime/sync/deadline.h"

using namespace clew::rt;

namespace {

// A look at the clock is no yield point, but takes time.
Nanos look(clockid_t clock) {
  g_sched.pass_time(kNanosPerTimeRead);
  const Nanos t = clock_reading(clock);
  g_log.fold(static_cast<std::uint64_t>(t));
  return t;
}

int sleep_until(Nanos deadline) {
  if (deadline > g_sched.now()) g_sched.block(clew::abi::WaitKind::kSleep, nullptr, deadline);
  return 0;
}

int sleep_for(const timespec* length) {
  if (length->tv_nsec < 0 || length->tv_nsec >= 1'000'000'000 || length->tv_sec < 0) return EINVAL;
  const Nanos t = duration_of(*length);
  if (t == 0) g_sched.yield_voluntarily();
  return sleep_until(t > kForever - g_sched.now() ? kForever - 1 : g_sched.now() + t);
}

}  // namespace

CLEW_EXPORT int clock_gettime(clockid_t clock, timespec* out) noexcept {
  if (!g_sched.active) return CLEW_REAL(clock_gettime)(clock, out);
  if (!is_known_clock(clock)) return answer_errno(EINVAL);
  *out = to_timespec(look(clock));
  return 0;
}

CLEW_EXPORT int gettimeofday(timeval* out, void* zone) noexcept {
  if (!g_sched.active) return CLEW_REAL(gettimeofday)(out, zone);
  const timespec t = to_timespec(look(CLOCK_REALTIME));
  *out = {t.tv_sec, t.tv_nsec / 1000};
  return 0;
}

CLEW_EXPORT time_t time(time_t* out) noexcept {
  if (!g_sched.active) return CLEW_REAL(time)(out);
  const time_t t = to_timespec(look(CLOCK_REALTIME)).tv_sec;
  if (out != nullptr) *out = t;
  return t;
}

CLEW_EXPORT clock_t clock() noexcept {
  if (!g_sched.active) return CLEW_REAL(clock)();
  return look(CLOCK_PROCESS_CPUTIME_ID) / (1'000'000'000 / CLOCKS_PER_SEC);
}

CLEW_EXPORT int timespec_get(timespec* out, int base) noexcept {
  if (!g_sched.active) return CLEW_REAL(timespec_get)(out, base);
  if (base != TIME_UTC) return 0;
  *out = to_timespec(look(CLOCK_REALTIME));
  return base;
}

CLEW_EXPORT int nanosleep(const timespec* length, timespec* rest) {
  CLEW_ENTER(nanosleep, length, rest);
  return answer_errno(sleep_for(length));
}

CLEW_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* t, timespec* rest) {
  CLEW_ENTER(clock_nanosleep, clock, flags, t, rest);
  if (!is_known_clock(clock) || clock == CLOCK_THREAD_CPUTIME_ID) return answer(EINVAL);
  if (!(flags & TIMER_ABSTIME)) return answer(sleep_for(t));
  const Nanos deadline = deadline_of(clock, t);
  return answer(deadline == kInvalidDeadline ? EINVAL : sleep_until(deadline));
}

CLEW_EXPORT int usleep(useconds_t length) {
  CLEW_ENTER(usleep, length);
  const timespec t{length / 1'000'000, static_cast<long>(length % 1'000'000) * 1000};
  return answer_errno(sleep_for(&t));
}

CLEW_EXPORT unsigned sleep(unsigned seconds) {
  CLEW_ENTER(sleep, seconds);
  const timespec t{seconds, 0};
  sleep_for(&t);
  return 0;
}

CLEW_EXPORT int sched_yield() noexcept {
  CLEW_ENTER(sched_yield);
  if (g_sched.current->handlers == 0) g_sched.yield_voluntarily();
  return 0;
}

// Gone from headers, but old programs call it; its declaration is redirected to sched_yield.
CLEW_EXPORT int interposed_pthread_yield() noexcept asm("pthread_yield");
int interposed_pthread_yield() noexcept { return sched_yield(); }

// Without descriptors these two are sleeps.
CLEW_EXPORT int poll(pollfd* fds, nfds_t count, int timeout) {
  if (!g_sched.active) return CLEW_REAL(poll)(fds, count, timeout);
  if (count != 0) end_unsupported("poll()");
  enter(operation("poll"), CLEW_CALLER);
  const timespec t{timeout / 1000, static_cast<long>(timeout % 1000) * 1'000'000};
  if (timeout < 0) g_sched.block(clew::abi::WaitKind::kSleep, nullptr, kForever);
  sleep_for(&t);
  return 0;
}

CLEW_EXPORT int select(int count, fd_set* in, fd_set* out, fd_set* except, timeval* timeout) {
  if (!g_sched.active) return CLEW_REAL(select)(count, in, out, except, timeout);
  if (in != nullptr || out != nullptr || except != nullptr) end_unsupported("select()");
  enter(operation("select"), CLEW_CALLER);
  if (timeout == nullptr) {
    g_sched.block(clew::abi::WaitKind::kSleep, nullptr, kForever);
    return 0;
  }
  const timespec t{timeout->tv_sec, timeout->tv_usec * 1000};
  return answer_errno(sleep_for(&t));
}
