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
// What a clock of the kernel's shows when a run begins.
Nanos reading_at_start(clockid_t clock);
// CLOCK_REALTIME, for the runtime: nobody reads it.
Nanos real_time_now();
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

// A copy of the program that continues without clew, in real time: its clocks continue from what they
// show now.
void keep_clocks_without_clew();
// What a clock of the kernel's is behind the program's; 0: the process is no such copy.
Nanos behind_program(clockid_t clock);
// A deadline of the program's as the kernel's clock will show it.
class ForKernel {
 public:
  ForKernel(clockid_t clock, const timespec* deadline);
  operator const timespec*() const { return given_ != nullptr && shifted_ ? &deadline_ : given_; }

 private:
  const timespec* given_;
  bool shifted_;
  timespec deadline_ = {};
};

// What a wait checks before it blocks: an error number, or 0 to block.
int before_wait(Nanos deadline);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_TIME_DEADLINE_H_
