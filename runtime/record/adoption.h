#ifndef CLEW_RUNTIME_RECORD_ADOPTION_H_
#define CLEW_RUNTIME_RECORD_ADOPTION_H_

#include "clew_abi/adoption.h"

namespace clew::rt {

// The descriptor of a control memory from the clew that runs an ancestor of this process
// (clew_abi/adoption.h). -1: there is none, or it refuses.
int ask_ancestors_for_control();

// The descriptor of a control memory for a copy of the program, from the clew with this process id.
int ask_for_recording_of_copy(int host, const abi::Branch& branch);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_ADOPTION_H_
