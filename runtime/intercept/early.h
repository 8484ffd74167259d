// What the program does before the runtime takes over. Functions of .preinit_array run before the
// first constructor of all: AddressSanitizer sets itself up in one, and its allocator keeps the
// time for later. What such code reads must be the same in a replay, too: clocks show what they show
// when a run begins, and random numbers follow from the seed.
//
// Not covered: system calls without libc's functions; random numbers of programs that a program
// under clew starts.
#ifndef CLEW_RUNTIME_INTERCEPT_EARLY_H_
#define CLEW_RUNTIME_INTERCEPT_EARLY_H_

#include <time.h>

#include <cstddef>

namespace clew::rt {

// The entry of a variable, in an environment that may be null; null if there is none. Without the
// functions of libc: a program may have its own of the same names (a shell has), which are not
// ready yet.
char** entry_of(char** environment, const char* name);

// Whether the program is to run under clew, and the runtime has not taken over yet.
bool is_early();
// They answer if it is early, and can.
bool early_reading(clockid_t clock, timespec* out);
bool early_random(void* buffer, std::size_t size);

// Whether or not it takes over.
void take_over_is_decided();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_INTERCEPT_EARLY_H_
