// The processor's time stamp counter, which shows virtual time too: the instruction faults
// (PR_SET_TSC) and is emulated.
#ifndef CLEW_RUNTIME_TIME_TIME_STAMP_H_
#define CLEW_RUNTIME_TIME_TIME_STAMP_H_

#include <ucontext.h>

namespace clew::rt {

void watch_time_stamp();
// For programs that are not under clew.
void enable_time_stamp();
// If the fault was an rdtsc or rdtscp, sets its results and skips it. Whether it was.
bool stand_in_for_time_stamp(ucontext_t& context);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_TIME_TIME_STAMP_H_
