// The families of system calls, each in a file of its own name. All return the kernel's answer,
// -errno on failure.
#ifndef CLEW_RUNTIME_SYSCALL_FAMILIES_H_
#define CLEW_RUNTIME_SYSCALL_FAMILIES_H_

#include "runtime/outside/perform.h"

namespace clew::rt {

long descriptor_call(const Call& call);
long control_call(const Call& call);  // fcntl and ioctl
long transfer_call(const Call& call);
long poll_call(const Call& call);
long lock_call(const Call& call);
long process_call(const Call& call);
long time_call(const Call& call);
long map_call(const Call& call);
long async_call(const Call& call);
long limit_call(const Call& call);  // resource limits
long scheduling_call(const Call& call);
long signal_call(const Call& call);

// Whether the program has any memory that a child would share.
bool shares_memory();
// How many signals may be pending at once (RLIMIT_SIGPENDING); 0: not known.
std::size_t most_pending_signals();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_FAMILIES_H_
