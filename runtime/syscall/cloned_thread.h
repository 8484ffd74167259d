// Threads that the clone system calls make.
#ifndef CLEW_RUNTIME_SYSCALL_CLONED_THREAD_H_
#define CLEW_RUNTIME_SYSCALL_CLONED_THREAD_H_

#include "runtime/outside/calls.h"
#include "runtime/sched/fiber.h"

namespace clew::rt {

// Creates a thread and returns its number. REQUIRES: the call has CLONE_THREAD.
long clone_thread(const Call& call);
// The running thread makes the exit system call.
[[noreturn]] void end_cloned_thread();
// Does what the kernel does for CLONE_CHILD_CLEARTID when a thread ends.
void clear_number(Fiber& fiber);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYSCALL_CLONED_THREAD_H_
