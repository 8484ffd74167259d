// The program's own timers, in virtual time: alarm, setitimer, timer_create, timerfd.
#ifndef CLEW_RUNTIME_SYSCALL_TIMERS_H_
#define CLEW_RUNTIME_SYSCALL_TIMERS_H_

#include <signal.h>

namespace clew::rt {

bool is_timer_descriptor(int fd);
// If it belongs to a timer, removes the timer.
void close_timer_descriptor(int fd);
// This process is a copy: it has no timers but those with a descriptor.
void forget_timers();
// A signal is no longer pending. If a timer sent it, `info` gets the number of times that it was
// due since, and the timer is armed again.
void timer_signal_taken(siginfo_t& info);

// Timers with SIGEV_THREAD. Filled in when the runtime takes over.
struct TimerThreads {
  // The timer is due: a thread calls the function.
  void (*start)(int timer, void (*function)(sigval), sigval value) = nullptr;
  // This process is a copy: it has only the calling thread.
  void (*forget)() = nullptr;
};
extern TimerThreads g_timer_threads;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_TIMERS_H_
