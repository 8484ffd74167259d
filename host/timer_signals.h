// Signals of timers (alarm(), setitimer()) say when something happens, not where: a program that one
// of them ends has the same failure wherever it stands by then.
#ifndef CLEW_HOST_TIMER_SIGNALS_H_
#define CLEW_HOST_TIMER_SIGNALS_H_

#include <signal.h>

namespace clew {

inline bool is_sent_by_timer(int signal) {
  return signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF;
}

}  // namespace clew

#endif  // CLEW_HOST_TIMER_SIGNALS_H_
