// Each thread has a second stack, on which the runtime does its work: nothing of it is left on the
// program's. A replay takes other ways through the runtime than the run that was recorded did, and
// a program that reads a variable which it never set, or looks for pointers on its stack as
// conservative garbage collectors do, would notice. A thread with a small stack has all of it to
// itself, too.
//
// The stubs of the hooks and of most interposed functions switch to it (own_stack_x86_64.S), and so
// do the runtime's handlers of the kernel's signals. A thread that is on it already, or that calls
// back into the program from there and has little of it left, stays where it is.
#ifndef CLEW_RUNTIME_FIBER_OWN_STACK_H_
#define CLEW_RUNTIME_FIBER_OWN_STACK_H_

#include <signal.h>

#include <cstddef>
#include <cstdint>

#include "runtime/fiber/own_stack_layout.h"

extern "C" {
// The running thread's own stack: where it begins, and up to where it is free when the program
// calls (0: there is none to switch to).
extern std::uintptr_t clew_own_base;
extern std::uintptr_t clew_own_top;
// Set by a hook of a point that has used general registers only: its stub then leaves the others alone,
// and resets it.
extern unsigned char clew_vectors_untouched;
}

namespace clew::rt {

// What a thread had in its registers when it left the program's stack, right below the top of its
// own.
struct Entry {
  std::uintptr_t r15, r14, r13, r12, rbx, rbp;
  std::uintptr_t code;   // where it resumes
  std::uintptr_t stack;  // what is below is free
};

// The stack of a thread that does not run. All 0: it has none.
struct OwnStack {
  OwnStack unused() const { return {base, base != 0 ? base + CLEW_OWN_STACK_SIZE : 0}; }
  std::uintptr_t base = 0;
  std::uintptr_t top = 0;
};
OwnStack make_own_stack();

inline bool is_on_own_stack(std::uintptr_t address) {
  return address - clew_own_base < CLEW_OWN_STACK_SIZE;
}
inline bool is_on_own_stack() {
  return is_on_own_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}
// REQUIRES: is_on_own_stack().
inline const Entry& entry() { return reinterpret_cast<const Entry*>(clew_own_top)[-1]; }
// How far the program has used its stack.
inline std::uintptr_t program_stack_pointer() {
  return is_on_own_stack() ? entry().stack
                           : reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// While it lives, no stub switches: another kernel thread runs, which has no such stack.
class NoOwnStack {
 public:
  NoOwnStack() : before_(clew_own_top) { clew_own_top = 0; }
  ~NoOwnStack() { clew_own_top = before_; }

 private:
  std::uintptr_t before_;
};

// While it lives, handlers stay on the stack on which the kernel begins them. REQUIRES: none of them
// switches threads and returns later.
class OnSignalStack {
 public:
  OnSignalStack();
  ~OnSignalStack();
};

// Installs the stack on which the kernel begins a handler. Each handler leaves it at once.
void install_signal_stack();

using SignalHandler = void (*)(int, siginfo_t*, void*);
// Whether the signal is a fault just below the stack that was in use: there is no room left on it.
bool is_stack_overflow(const siginfo_t& info, std::uintptr_t stack);
// Sets the function that clew_signal_entry calls for the signal.
void set_signal_handler(int signal, SignalHandler handler);

extern "C" {
// The handler of all signals that the runtime handles.
void clew_signal_entry(int signal, siginfo_t* info, void* context);
// The code of the stubs.
extern const char clew_stubs_begin[] __attribute__((visibility("hidden")));
extern const char clew_stubs_end[] __attribute__((visibility("hidden")));
// Calls the function on the running thread's own stack.
void clew_call_on_own_stack(void (*function)());
}

// The program's code that called the function which has this return address and this frame.
inline const void* caller_in_program(const void* return_address, const void* frame) {
  const auto* code = static_cast<const char*>(return_address);
  if (code < clew_stubs_begin || code >= clew_stubs_end) return return_address;
  return static_cast<const void* const* const*>(frame)[0][1];
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_FIBER_OWN_STACK_H_
