// What a program does before its first thread is the same in every run, and can be done once for all
// of them (abi::kFlagLateStart), unless it is noticed elsewhere or must be noticed anew by each run.
#ifndef CLEW_RUNTIME_SNAPSHOT_PRELUDE_H_
#define CLEW_RUNTIME_SNAPSHOT_PRELUDE_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

// Whether one call stands for that of every run: it reads what does not change, gets memory, prints.
// The ends of a program are such calls, too: a program that ends here has no jobs to run.
bool is_of_prelude(const Call& call);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SNAPSHOT_PRELUDE_H_
