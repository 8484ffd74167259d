// What reports and the end of a run need of the folders above this one.
#ifndef CLEW_RUNTIME_RECORD_CALLBACKS_H_
#define CLEW_RUNTIME_RECORD_CALLBACKS_H_

#include "clew_abi/control.h"
#include "runtime/rt.h"

namespace clew::rt {

// Filled in when the runtime takes over, before anything is reported.
struct RecordCallbacks {
  // A copy of the program whose reports go nowhere yet asks clew for a recording. False: there is
  // none to be had.
  bool (*keep_copy)() = nullptr;
  // Notes what the program did that is not in the recording.
  void (*tell_unrecorded)() = nullptr;
  // The process ends: other processes that wait for its locks learn that it did.
  void (*leave_locks_to_others)() = nullptr;
  // The job is over: its result goes to the host, and the process to its next job or to its end.
  void (*finish_job)(abi::JobEnd end, int status, Clock clock) = nullptr;
};
extern RecordCallbacks g_record_callbacks;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_CALLBACKS_H_
