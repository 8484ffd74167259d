// Putting a process back to where it was. Everything that it can write is remembered once and
// copied back after a run, the mappings and descriptors that it has gained are removed, and it
// resumes at the same instruction. This takes tens of microseconds for a small program, where a
// fork takes hundreds.
//
// Not everything can be put back (files, other processes, what the kernel keeps of working folder,
// limits and the like): a process that has made such calls (lasting.h) is not, and whatever else
// cannot be put back is noticed here, after the result of the run is safe.
#ifndef CLEW_RUNTIME_SNAPSHOT_RESET_H_
#define CLEW_RUNTIME_SNAPSHOT_RESET_H_

#include "runtime/rt.h"

namespace clew::rt {

// Makes room on the main thread's stack, so that it need not grow in a run. REQUIRES: called on
// that stack, before the first fork.
void grow_main_stack();

// Remembers the process and returns; after each go_back() it returns again. False: the process
// cannot be put back later, and go_back() must not be called.
bool remember_here();

// Whether any of [begin, end) is memory that the remembered process has.
bool is_remembered(std::uintptr_t begin, std::uintptr_t end);

// May be called on any stack. If the process cannot be put back, it ends.
[[noreturn]] void go_back();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SNAPSHOT_RESET_H_
