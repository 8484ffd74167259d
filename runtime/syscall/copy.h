// Copies of the program that fork() makes. If clew records the program and listens
// (clew_abi/adoption.h), a copy goes on under the runtime with the calling thread alone. What it would
// report stays in memory of its own, and goes with it unless something makes it worth keeping: a
// thread, a deadlock. Then clew is asked for a recording, which has all that the program recorded
// up to the fork, and what the copy recorded after it.
//
// The replay of such a recording is that of the program, up to a fork that is answered with 0. From
// there on the process is the copy.
#ifndef CLEW_RUNTIME_SYSCALL_COPY_H_
#define CLEW_RUNTIME_SYSCALL_COPY_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

// Whether copies go on under the runtime.
bool copies_can_be_recorded();

// This process is a new copy, as the kernel has made it. Not in a replay. REQUIRES: signals from
// outside are blocked.
void begin_copy();
// The call that made it has been answered, in a replay too.
void continue_as_copy(const Call& call);
// This process is a copy with one thread, and nobody records it.
void continue_without_clew();

// Asks for a recording, unless there is one, or this is no copy. False: there is none to be had.
bool keep_copy();
// The same before it makes a thread; the strategy for its threads begins.
bool keep_copy_with_threads();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_COPY_H_
