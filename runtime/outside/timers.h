// The program's own timers, in virtual time: alarm, setitimer, timer_create, timerfd.
#ifndef CLEW_RUNTIME_OUTSIDE_TIMERS_H_
#define CLEW_RUNTIME_OUTSIDE_TIMERS_H_

namespace clew::rt {

// If it is a timer's, the timer goes.
void close_timer_descriptor(int fd);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_TIMERS_H_
