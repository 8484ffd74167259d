// Threads that spin in code that was not built with clew and makes no calls: no point passes there,
// so nobody else would ever run, no time pass and no signal arrive. They are handed on by real
// time, after long, and processor time takes virtual time to the next deadline; a replay does
// likewise, but nothing makes the two the same if the loop does more than wait.
#ifndef CLEW_RUNTIME_SIGNAL_STUCK_H_
#define CLEW_RUNTIME_SIGNAL_STUCK_H_

#include <signal.h>

namespace clew::rt {

// Nobody uses it; the kernel's handler for it is ours.
inline constexpr int kStuckSignal = SIGSTKFLT;

void watch_for_stuck_threads();
// A copy of the process has no timer.
void watch_for_stuck_threads_again();
// The process goes on without clew.
void watch_for_stuck_threads_no_more();
// Whether it belongs to a library in which no points are counted.
bool is_without_points(const void* code);
// Libraries have come or gone.
void note_loaded_code();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_STUCK_H_
