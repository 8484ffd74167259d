// The system calls of the program. Whoever catches one (an interposed function of libc, or
// dispatch.h) passes it on to system_call().
//
//  - A call that would block makes its thread wait in the scheduler (outside/poller.h).
//  - What the kernel answers is recorded, or, in a replay, taken from the recording: then the
//    kernel is not asked at all, except for memory and for what goes to standard output.
#ifndef CLEW_RUNTIME_SYSCALL_SYSTEM_CALL_H_
#define CLEW_RUNTIME_SYSCALL_SYSTEM_CALL_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

void system_calls_init(abi::Control& control);

// The kernel's answer, -errno on failure. If the thread is cancelled, it does not return.
long system_call(const Call& call);

template <class... Arguments>
long system_call(long number, Arguments... arguments) {
  return system_call(Call{number, {(long)(arguments)...}});
}

// The answer as libc returns it: -1 and errno on failure.
long with_errno(long result);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_SYSTEM_CALL_H_
