// A list of system calls that a process makes while nothing of what it was started with is left:
// no stack, no libc, no code but the few instructions that work the list off, which lie at a
// fixed address.
#ifndef CLEW_RUNTIME_LAYOUT_STEPS_H_
#define CLEW_RUNTIME_LAYOUT_STEPS_H_

#include <cstddef>
#include <cstdint>

namespace clew::rt {

inline constexpr long kStepZero = -1;  // arguments: address, size
inline constexpr long kStepCopy = -2;  // arguments: address, from, size

// Read by steps_x86_64.S.
struct Step {
  long number;  // of a system call, or one of the above
  long arguments[6];
  long unused;
};
static_assert(sizeof(Step) == 64);

// What is left to do when all steps are done.
struct Steps {
  static constexpr std::size_t kMost = 96;
  Step list[kMost];
  long count;
  long stack;  // the stack pointer, and where to continue
  long entry;
  long message_size;  // told if a step fails, which ends the process
  char message[192];
};
static_assert(offsetof(Steps, count) == 6144);

// Position independent; [clew_steps_begin, clew_steps_end) may be copied anywhere. The argument is
// the Steps to work off.
extern "C" {
extern const char clew_steps_begin[];
extern const char clew_steps_end[];
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_LAYOUT_STEPS_H_
