// What timers that start a thread need of libc's interposed functions (TimerThreads).
#ifndef CLEW_RUNTIME_INTERCEPT_TIMER_H_
#define CLEW_RUNTIME_INTERCEPT_TIMER_H_

#include <signal.h>

namespace clew::rt {

void start_thread_for_timer(int timer, void (*function)(sigval), sigval value);
void forget_thread_for_timers();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_TIMER_H_
