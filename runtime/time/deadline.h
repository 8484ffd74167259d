// Absolute times as the program gives them, in the scheduler's time.
#ifndef CLEW_RUNTIME_TIME_DEADLINE_H_
#define CLEW_RUNTIME_TIME_DEADLINE_H_

#include <time.h>

#include "runtime/rt.h"

namespace clew::rt {

// An invalid time: the wait must answer EINVAL, but only if it would block.
inline constexpr Nanos kInvalidDeadline = INT64_MIN;

// kInvalidDeadline for nanoseconds out of range or an unknown clock; times too large to count
// are kForever.
Nanos deadline_of(clockid_t clock, const timespec* absolute);
Nanos duration_of(const timespec& relative);
inline bool is_duration(const timespec& t) {
  return t.tv_sec >= 0 && t.tv_nsec >= 0 && t.tv_nsec < 1'000'000'000;
}
// The time at which `length` has passed from now on; kForever if it is too large to count.
Nanos deadline_after(Nanos length);
inline Nanos deadline_after(const timespec& length) { return deadline_after(duration_of(length)); }

// The virtual time that a clock shows.
Nanos clock_reading(clockid_t clock);
bool is_known_clock(clockid_t clock);
// The clocks that pthread_..._clock... functions take.
inline bool is_wait_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}
timespec to_timespec(Nanos t);

// Set what virtual CLOCK_REALTIME shows at time 0, and now. Waits that have begun keep their
// deadlines.
void set_epoch(Nanos epoch);
void set_real_time(Nanos t);

// What a wait checks before it blocks: an error number, or 0 to block.
int before_wait(Nanos deadline);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_TIME_DEADLINE_H_
