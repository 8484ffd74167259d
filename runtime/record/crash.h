// Signals that end the program.
#ifndef CLEW_RUNTIME_RECORD_CRASH_H_
#define CLEW_RUNTIME_RECORD_CRASH_H_

#include <signal.h>

#include "runtime/rt.h"

namespace clew::rt {

// What the processor raises. The kernel delivers these to a handler of ours in any case.
bool is_fault(int signal);

// The program dies of the signal: says where, then lets it happen.
[[noreturn]] void die_of(int signal, const siginfo_t& info);

// Handlers for faults. The program's own are called from there.
void install_crash_handlers();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_CRASH_H_
