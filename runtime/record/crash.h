// The program dies of a signal.
#ifndef CLEW_RUNTIME_RECORD_CRASH_H_
#define CLEW_RUNTIME_RECORD_CRASH_H_

#include <signal.h>

#include <cstdint>

namespace clew::rt {

// Reports where, then lets it happen. `stack`: the stack pointer of the code that caused a fault.
[[noreturn]] void die_of(int signal, const siginfo_t& info, std::uintptr_t stack = 0);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_CRASH_H_
