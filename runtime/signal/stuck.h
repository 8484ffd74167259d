// Threads that spin in code that was not built with clew and makes no calls: no point passes there,
// so no other thread would ever run, no time would pass and no signal would arrive. After a long
// time they are preempted by real time, and processor time moves virtual time to the next deadline.
// A replay does the same, but nothing makes the two runs equal if the loop does more than wait.
#ifndef CLEW_RUNTIME_SIGNAL_STUCK_H_
#define CLEW_RUNTIME_SIGNAL_STUCK_H_

#include <signal.h>

namespace clew::rt {

// Nobody uses it; the kernel's handler for it is the runtime's.
inline constexpr int kStuckSignal = SIGSTKFLT;

void watch_for_stuck_threads();
// A copy of the process has no timer.
void watch_for_stuck_threads_again();
// The process continues without clew.
void watch_for_stuck_threads_no_more();
// Whether it belongs to a library in which no points are counted.
bool is_without_points(const void* code);
// Libraries have been loaded or unloaded.
void note_loaded_code();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_STUCK_H_
