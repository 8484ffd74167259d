// Checkpoints: a run stops before an event and is continued from there many times, each time in a
// process of its own, under another schedule (abi::kJobCheckpoint). They nest: a run that continues
// from one may stop at the next.
#ifndef CLEW_RUNTIME_SNAPSHOT_CHECKPOINT_H_
#define CLEW_RUNTIME_SNAPSHOT_CHECKPOINT_H_

#include "runtime/rt.h"

namespace clew::rt {

// The run has come to Scheduler::checkpoint_at. Returns in each process that resumes from here.
void stop_at_checkpoint();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SNAPSHOT_CHECKPOINT_H_
