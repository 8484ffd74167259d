// Processes that see each other's time. A program that another program under clew has started has a
// virtual time of its own, and so has the other; both take as long for a wait as in real time. What a
// wait takes longer on a busy machine, and the waits that are too short to count (poller.cc), would
// add up: a server would hardly notice that its client has slept. Its virtual time is therefore moved
// on when it falls behind the real time since it began; that is an input of its run.
#ifndef CLEW_RUNTIME_OUTSIDE_IN_STEP_H_
#define CLEW_RUNTIME_OUTSIDE_IN_STEP_H_

#include "clew_abi/control.h"
#include "runtime/rt.h"

namespace clew::rt {

// REQUIRES: the scheduler and the inputs are set up.
void begin_in_step(const abi::Control& control);

// Whether this process is such a program, and is being recorded.
bool keeps_in_step();

// How far its virtual time is behind; negative: ahead.
Nanos behind_real_time();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_IN_STEP_H_
