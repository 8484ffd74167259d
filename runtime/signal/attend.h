// What a thread attends to at a yield point or in the middle of a wait: signals that are delivered
// to it, and its cancellation.
#ifndef CLEW_RUNTIME_SIGNAL_ATTEND_H_
#define CLEW_RUNTIME_SIGNAL_ATTEND_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

// Runs the handlers of all signals that the thread does not block. `cancelled` is set only if
// `ended_by` says that the caller would act on it. REQUIRES: it is the running thread.
Attended attend(Fiber& self, unsigned ended_by);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_ATTEND_H_
