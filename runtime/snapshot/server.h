// A program that is started once and run many times. It stops at main, or before its first thread,
// and takes jobs from the host there (abi::Job). Each job runs in a forked process, so that nothing
// it does harms the next; if the host allows it, that process is put back to where it was (reset.h)
// and runs the next job too.
#ifndef CLEW_RUNTIME_SNAPSHOT_SERVER_H_
#define CLEW_RUNTIME_SNAPSHOT_SERVER_H_

#include "clew_abi/control.h"
#include "runtime/outside/calls.h"
#include "runtime/rt.h"

namespace clew::rt {

// Where jobs begin, if they are to begin at main (abi::kFlagFromMain) or later
// (abi::kFlagLateStart). These return once for each run.
void reach_main();
void reach_first_thread();
void reach_choice();
// REQUIRES: the call has not been made yet.
void reach_call(const Call& call);

// This process is a copy that the program made of itself: it has no job.
void leave_job();

// The run is over: its result goes to the host, and the process to its next job or to its end.
// REQUIRES: running_job().
[[noreturn]] void end_job(abi::JobEnd end, int status, Clock clock);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SNAPSHOT_SERVER_H_
