// Context switch. The assembly files of the runtime are all in this folder.
#ifndef CLEW_RUNTIME_FIBER_CONTEXT_H_
#define CLEW_RUNTIME_FIBER_CONTEXT_H_

#include <cstdint>

namespace clew::rt {

// A parked context: the callee-saved registers lie on its stack.
struct Context {
  std::uintptr_t stack_pointer = 0;
  std::uintptr_t thread_pointer = 0;  // FS base
};

// What the debugger needs of a parked context.
struct ParkedFrame {
  std::uintptr_t instruction, stack, frame, rbx, r12, r13, r14, r15;
};
ParkedFrame parked_frame(const Context& context);

std::uintptr_t current_thread_pointer();

// Makes *context one that begins in `entry` on the stack that ends at `stack_end`, with the calling
// thread's thread-local storage. `entry` must not return.
void init_parked_context(Context& context, void* stack_end, void (*entry)());

// A thread begins with its creator's rounding modes and floating-point flags, as the kernel does it: the
// parked context gets the caller's.
void inherit_floating_point(const Context& parked);

// Finds out whether user space may write the FS base itself (AT_HWCAP2 bit 1).
void init_context();

extern "C" {
// Parks the caller in *from and resumes *to.
void clew_context_switch(Context* from, const Context* to);
// Parks the caller in *self and ends the calling kernel thread, leaving its stack and
// thread-local storage behind for whoever switches to *self.
void clew_context_park_and_exit_thread(Context* self);
// Starts a kernel thread that calls `entry` on the stack of the parked context, below what is in
// use, with its thread-local storage. The kernel keeps its id in *tid until it ends. The kernel's
// answer: an id, or -errno. `entry` must not return.
long clew_context_run_on_kernel_thread(const Context* parked, int* tid, void (*entry)(void*),
                                       void* argument);
// The value of a pointer that setjmp stored mangled.
std::uintptr_t clew_demangle_pointer(std::uintptr_t mangled);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_FIBER_CONTEXT_H_
