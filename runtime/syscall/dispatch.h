// Catching every system call that the program makes, wherever its code is: in libc, in a library,
// or in its own assembly (libc/user_dispatch.h). The common ones come faster, through interposed
// functions.
#ifndef CLEW_RUNTIME_SYSCALL_DISPATCH_H_
#define CLEW_RUNTIME_SYSCALL_DISPATCH_H_

namespace clew::rt {

struct Call;

// False: this kernel cannot; calls inside libc are not seen then.
bool catch_system_calls();
// Before calls are caught: while it lives, requests for random bytes are answered from the seed.
// Everything else goes to the kernel.
class OnlyRandomness {
 public:
  OnlyRandomness();
  ~OnlyRandomness();
};
// Whether libc made the call in a function that is not a cancellation point, whatever the call is.
bool is_without_cancel(const Call& call);

// The run has ended, but the program has not: every call goes to the kernel, and the threads stay
// where they are. Only the process id stays the one that the program was told before: a replay
// prints it again.
void leave_calls_to_kernel();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_DISPATCH_H_
