// The processor's side of signals and of system calls that are caught.
#ifndef CLEW_RUNTIME_FIBER_SIGNAL_STACK_H_
#define CLEW_RUNTIME_FIBER_SIGNAL_STACK_H_

#include <signal.h>

#include "runtime/fiber/context.h"
#include "runtime/fiber/own_stack.h"

namespace clew::rt {

extern "C" {
// What a handler returns to: rt_sigreturn, from code of ours (SA_RESTORER).
void clew_signal_return() __asm__("__restore_rt");
// Calls the program's handler on the stack that ends at `top`, where 16 bytes are used. What the
// runtime does meanwhile uses its own stack below what is in use.
void clew_call_on_stack(SignalHandler handler, int signal, siginfo_t* info, void* context,
                        void* top);
// The caller's registers, in the order of ucontext_t, as far as a handler would look at them.
void clew_fill_context(long long* registers);
// Makes a system call that creates a process, which resumes where `registers` says, on another
// stack. Returns in the parent only.
long clew_clone_at(long number, const long* arguments, const long long* registers);
// Resumes where the registers say, as after a system call that returned 0.
[[noreturn]] void clew_resume_at(const long long* registers);
// Parks the caller in *from and does that with another thread's thread-local storage.
void clew_context_resume_at(Context* from, const long long* registers,
                            std::uintptr_t thread_pointer);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_FIBER_SIGNAL_STACK_H_
