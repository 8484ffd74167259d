// The kernel's own code in the program (vDSO), through which libc reads clocks without a system
// call.
#ifndef CLEW_RUNTIME_SYSCALL_VDSO_H_
#define CLEW_RUNTIME_SYSCALL_VDSO_H_

namespace clew::rt {

// Makes its functions system calls, which are caught. A function that cannot be changed stays, and
// libc then uses real time.
void make_vdso_call_kernel();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_VDSO_H_
