// What a debugger is told: where every parked thread stands, and when to stop. Only with a
// debugger (Scheduler::debugged).
#ifndef CLEW_RUNTIME_RECORD_DEBUG_TABLE_H_
#define CLEW_RUNTIME_RECORD_DEBUG_TABLE_H_

#include "clew_abi/debug.h"
#include "runtime/sched/fiber.h"

namespace clew::rt {

// From here on there is one.
void debug_begin();
// REQUIRES: `fiber` is parked or finished.
void debug_table_update(const Fiber& fiber);
void debug_note_failure(const char* detail);
// Returns when the debugger lets the program continue. Does nothing if there is none.
void debug_stop(abi::DebugStop why);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_DEBUG_TABLE_H_
