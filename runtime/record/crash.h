// The program dies of a signal.
#ifndef CLEW_RUNTIME_RECORD_CRASH_H_
#define CLEW_RUNTIME_RECORD_CRASH_H_

#include <signal.h>

namespace clew::rt {

// Reports where, then lets it happen.
[[noreturn]] void die_of(int signal, const siginfo_t& info);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_CRASH_H_
