#include "runtime/time/deadline.h"

#include <errno.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

constexpr Nanos kSecond = 1'000'000'000;
// The machine has been up for a while: programs subtract from CLOCK_MONOTONIC.
constexpr Nanos kUptime = 1000 * kSecond;
Nanos g_epoch = 0;

// What a clock shows at the scheduler's time 0.
Nanos base_of(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
      return g_epoch;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
      return kUptime;
    default:  // the process's time on processors
      return -g_sched.idle();
  }
}

// A processor-time clock of a thread, by the kernel's encoding: its number, "of a thread" (4) and
// the kind of time. Null: it is none, or there is no such thread.
const Fiber* thread_of_clock(clockid_t clock) {
  if (clock == CLOCK_THREAD_CPUTIME_ID) return g_sched.current;
  if (clock >= 0 || (clock & 4) == 0) return nullptr;
  const Fiber* found = nullptr;
  g_sched.threads.for_each_living([&](const Fiber& fiber) {
    if (fiber.number == ~(clock >> 3)) found = &fiber;
  });
  return found;
}

// Whether it is the processor-time clock of this process.
bool is_own_process_clock(clockid_t clock) {
  if (clock >= 0 || (clock & 4) != 0) return false;
  const int process = ~(clock >> 3);
  return process == 0 || process == g_sched.process;
}

// The time of the events that it executed, and of its reads of clocks.
Nanos processor_time(const Fiber& fiber) {
  const auto events = static_cast<Nanos>(g_sched.own_event(fiber)) - 1;
  return events * g_sched.at_speed(kNanosPerPoint) + fiber.clock_reads;
}

Nanos g_real_time_behind = 0;
Nanos g_monotonic_behind = 0;

Nanos kernel_reading(clockid_t clock) {
  timespec t{};
  raw_syscall(SYS_clock_gettime, clock, reinterpret_cast<long>(&t));
  return t.tv_sec * kSecond + t.tv_nsec;
}

// Saturates; negative times are long past.
Nanos nanos_of(const timespec& t) {
  if (t.tv_sec >= INT64_MAX / kSecond - 1) return kForever;
  if (t.tv_sec < 0) return -1;
  return t.tv_sec * kSecond + t.tv_nsec;
}

}  // namespace

void set_epoch(Nanos epoch) { g_epoch = epoch; }

void set_real_time(Nanos t) { g_epoch = t - g_sched.now(); }

bool is_known_clock(clockid_t clock) {
  if (clock < 0) return thread_of_clock(clock) != nullptr || is_own_process_clock(clock);
  return clock <= CLOCK_TAI && clock != 10;
}

Nanos deadline_of(clockid_t clock, const timespec* absolute) {
  if (absolute == nullptr) return kForever;
  if (absolute->tv_nsec < 0 || absolute->tv_nsec >= kSecond) return kInvalidDeadline;
  const Nanos t = nanos_of(*absolute);
  return t == kForever ? kForever : t - base_of(clock);
}

Nanos duration_of(const timespec& relative) { return nanos_of(relative); }

Nanos deadline_after(Nanos length) {
  const Nanos now = g_sched.now();
  return length > kForever - now ? kForever : now + length;
}

Nanos clock_reading(clockid_t clock) {
  g_sched.uncovered |= abi::kUncoveredTime;
  if (const Fiber* thread = thread_of_clock(clock)) {
    g_sched.current->clock_reads += g_sched.at_speed(kNanosPerCall);
    return processor_time(*thread);
  }
  return base_of(clock) + g_sched.now();
}

Nanos reading_at_start(clockid_t clock) { return base_of(clock); }

Nanos real_time_now() { return base_of(CLOCK_REALTIME) + g_sched.now(); }

timespec to_timespec(Nanos t) { return {t / kSecond, t % kSecond}; }

void keep_clocks_without_clew() {
  g_real_time_behind = clock_reading(CLOCK_REALTIME) - kernel_reading(CLOCK_REALTIME);
  g_monotonic_behind = clock_reading(CLOCK_MONOTONIC) - kernel_reading(CLOCK_MONOTONIC);
}

Nanos behind_program(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
      return g_real_time_behind;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
      return g_monotonic_behind;
    default:
      return 0;
  }
}

ForKernel::ForKernel(clockid_t clock, const timespec* deadline)
    : given_(deadline),
      shifted_(behind_program(clock) != 0 && deadline != nullptr && is_duration(*deadline) &&
               nanos_of(*deadline) != kForever) {
  if (!shifted_) return;
  const Nanos t = nanos_of(*deadline) - behind_program(clock);
  deadline_ = to_timespec(t > 0 ? t : 0);
}

int before_wait(Nanos deadline) {
  if (deadline == kInvalidDeadline) return EINVAL;
  return deadline <= g_sched.now() ? ETIMEDOUT : 0;
}

}  // namespace clew::rt
