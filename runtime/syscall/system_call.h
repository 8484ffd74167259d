// The system calls of the program. Whoever catches one (an interposed function of libc, or the
// kernel's dispatch, see dispatch.h) brings it here.
//
//  - A call that would block makes its thread wait in the scheduler (asks.h).
//  - What the kernel answers is recorded, or, in a replay, taken from the recording: then the
//  kernel
//    is not asked at all, except for memory and for what goes to standard output.
#ifndef CLEW_RUNTIME_SYSCALL_SYSTEM_CALL_H_
#define CLEW_RUNTIME_SYSCALL_SYSTEM_CALL_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

void system_calls_init(abi::Control& control);

// The kernel's answer, -errno on failure. A cancellation of the thread is acted on in here.
long system_call(const Call& call);

template <class... Arguments>
long system_call(long number, Arguments... arguments) {
  return system_call(Call{number, {(long)(arguments)...}});
}

// The same as libc tells it: -1 and errno.
long with_errno(long result);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_SYSTEM_CALL_H_
