// System call user dispatch (PR_SET_SYSCALL_USER_DISPATCH, since Linux 5.11): the kernel sends SIGSYS
// for every system call that is made outside of the runtime's own code. Who handles the signal is
// not known here (syscall/dispatch.h).
#ifndef CLEW_RUNTIME_LIBC_USER_DISPATCH_H_
#define CLEW_RUNTIME_LIBC_USER_DISPATCH_H_

namespace clew::rt {

// Calls are caught from now on. False: this kernel cannot. REQUIRES: SIGSYS has a handler.
bool begin_user_dispatch();
bool user_dispatch_is_on();
// Whether a call made now, outside the runtime, would be caught.
bool calls_are_caught();
// The kernel switches it off in a copy of the process.
void renew_user_dispatch();
void end_user_dispatch();

// For functions of libc that the runtime calls on its own behalf: while it lives, their system
// calls are not caught.
class Uncaught {
 public:
  Uncaught();
  ~Uncaught();

 private:
  char before_;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LIBC_USER_DISPATCH_H_
