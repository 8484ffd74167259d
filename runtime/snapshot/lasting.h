// Calls whose effect outlasts a run in the same process: putting back memory, mappings, descriptors
// and signal actions (reset.h) does not undo them. A process that makes one is not put back. Its
// run continues all the same: a process that was put back is like one that was just forked.
#ifndef CLEW_RUNTIME_SNAPSHOT_LASTING_H_
#define CLEW_RUNTIME_SNAPSHOT_LASTING_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

// REQUIRES: the call has not been made yet.
void note_lasting(const Call& call);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SNAPSHOT_LASTING_H_
