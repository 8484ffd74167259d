// Clocks and sleeps. Time is virtual; a sleep takes no real time.
#include <sys/syscall.h>

#include "runtime/intercept/call.h"
#include "runtime/intercept/early.h"
#include "runtime/sync/tasks.h"
#include "runtime/syscall/system_call.h"
#include "runtime/time/deadline.h"

using namespace clew::rt;

namespace {

// Reading the clock is not a yield point, but takes time.
Nanos look(clockid_t clock) {
  g_sched.pass_time(g_sched.at_speed(kNanosPerCall));
  const Nanos t = clock_reading(clock);
  g_hash.fold(static_cast<std::uint64_t>(t));
  return t;
}

// What a clock of the kernel's means to a copy of the program.
timespec of_program(clockid_t clock, const timespec& t) {
  const Nanos behind = behind_program(clock);
  return behind == 0 ? t : to_timespec(duration_of(t) + behind);
}

bool is_native() { return !g_sched.active && behind_program(CLOCK_REALTIME) == 0 && !is_early(); }

timespec real_time() {
  if (g_sched.active) return to_timespec(look(CLOCK_REALTIME));
  timespec t{};
  if (early_reading(CLOCK_REALTIME, &t)) return t;
  CLEW_REAL(clock_gettime)(CLOCK_REALTIME, &t);
  return of_program(CLOCK_REALTIME, t);
}

}  // namespace

CLEW_INTERPOSE int clock_gettime(clockid_t clock, timespec* out) noexcept {
  if (!g_sched.active) {
    if (early_reading(clock, out)) return 0;
    const int result = CLEW_REAL(clock_gettime)(clock, out);
    if (result == 0) *out = of_program(clock, *out);
    return result;
  }
  if (!is_known_clock(clock)) return answer_errno(EINVAL);
  *out = to_timespec(look(clock));
  return 0;
}

CLEW_INTERPOSE int gettimeofday(timeval* out, void* zone) noexcept {
  if (is_native()) return CLEW_REAL(gettimeofday)(out, zone);
  const timespec t = real_time();
  *out = {t.tv_sec, t.tv_nsec / 1000};
  return 0;
}

CLEW_INTERPOSE time_t time(time_t* out) noexcept {
  if (is_native()) return CLEW_REAL(time)(out);
  const time_t t = real_time().tv_sec;
  if (out != nullptr) *out = t;
  return t;
}

CLEW_INTERPOSE clock_t clock() noexcept {
  if (!g_sched.active) return is_early() ? 0 : CLEW_REAL(clock)();
  return look(CLOCK_PROCESS_CPUTIME_ID) / (1'000'000'000 / CLOCKS_PER_SEC);
}

CLEW_INTERPOSE int timespec_get(timespec* out, int base) noexcept {
  if (is_native()) return CLEW_REAL(timespec_get)(out, base);
  if (base != TIME_UTC) return 0;
  *out = real_time();
  return base;
}

// All of them sleep by clock_nanosleep, whose answer is an error number.
int sleep_by(clockid_t clock, int flags, const timespec* length, timespec* rest) {
  return static_cast<int>(-system_call(SYS_clock_nanosleep, clock, flags, length, rest));
}

CLEW_INTERPOSE int nanosleep(const timespec* length, timespec* rest) {
  CLEW_ENTER(nanosleep, length, rest);
  return answer_errno(sleep_by(CLOCK_MONOTONIC, 0, length, rest));
}

CLEW_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const timespec* t, timespec* rest) {
  CLEW_ENTER(clock_nanosleep, clock, flags,
             ForKernel(flags == TIMER_ABSTIME ? clock : CLOCK_PROCESS_CPUTIME_ID, t), rest);
  return answer(sleep_by(clock, flags, t, rest));
}

CLEW_INTERPOSE int usleep(useconds_t length) {
  CLEW_ENTER(usleep, length);
  const timespec t{length / 1'000'000, static_cast<long>(length % 1'000'000) * 1000};
  return answer_errno(sleep_by(CLOCK_MONOTONIC, 0, &t, nullptr));
}

CLEW_INTERPOSE unsigned sleep(unsigned seconds) {
  CLEW_ENTER(sleep, seconds);
  const timespec t{seconds, 0};
  timespec rest{};
  // As glibc counts: whole seconds that are left.
  if (answer_errno(sleep_by(CLOCK_MONOTONIC, 0, &t, &rest)) == 0) return 0;
  return static_cast<unsigned>(rest.tv_sec);
}

CLEW_INTERPOSE int sched_yield() noexcept {
  CLEW_ENTER(sched_yield);
  if (g_sched.current->no_yield == 0) g_sched.yield_voluntarily();
  wait_between_tasks(*g_sched.current);
  return 0;
}

// Gone from headers, but old programs call it; its declaration is redirected to sched_yield.
CLEW_INTERPOSE int interposed_pthread_yield() noexcept asm("clew_own_pthread_yield");
int interposed_pthread_yield() noexcept { return sched_yield(); }
