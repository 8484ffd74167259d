// What the gdb command `clew` reads: where every parked thread stands. Kept up to date only
// under a debugger (Scheduler::debugged).
#ifndef CLEW_RUNTIME_RECORD_DEBUG_TABLE_H_
#define CLEW_RUNTIME_RECORD_DEBUG_TABLE_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

// REQUIRES: `fiber` is parked or finished.
void debug_table_update(const Fiber& fiber);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_DEBUG_TABLE_H_
