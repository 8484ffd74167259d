// Copies of the program that fork() makes. If clew records the program and listens
// (clew_abi/adoption.h), a copy keeps running under the runtime with the calling thread alone. What
// it would report stays in memory of its own, and is lost with it unless something makes it worth
// keeping: a thread, a deadlock. Then clew is asked for a recording, which contains all that the
// program recorded up to the fork, and what the copy recorded after it.
//
// The replay of such a recording is that of the program, up to a fork that is answered with 0. From
// there on the process is the copy.
#ifndef CLEW_RUNTIME_SYSCALL_COPY_H_
#define CLEW_RUNTIME_SYSCALL_COPY_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

// Whether copies keep running under the runtime.
bool copies_can_be_recorded();

// The kernel has made this process, a new copy. Not called in a replay. REQUIRES: signals from
// outside are blocked.
void begin_copy();
// The call that made the copy has been answered, in a replay too: the process continues as the
// copy, or as a child that it enters (outside/children.h).
void continue_as_copy(const Call& call);
// This process is a copy with one thread that nobody records: it continues without clew.
void continue_without_clew();

// Asks for a recording, unless there is one, or this is no copy. False: there is none to be had.
bool keep_copy();
// keep_copy() before the copy makes its first thread; the strategy for its threads begins.
bool keep_copy_with_threads();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_COPY_H_
