// The kernel's own code in the program (vDSO), through which libc reads clocks without a system
// call.
#ifndef CLEW_RUNTIME_SYSCALL_VDSO_H_
#define CLEW_RUNTIME_SYSCALL_VDSO_H_

namespace clew::rt {

// Makes its functions system calls, which are caught. What cannot be changed stays: libc's own use
// of the time is real then.
void make_vdso_call_kernel();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_VDSO_H_
