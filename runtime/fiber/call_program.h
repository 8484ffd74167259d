// Calling the program from the runtime.
#ifndef CLEW_RUNTIME_FIBER_CALL_PROGRAM_H_
#define CLEW_RUNTIME_FIBER_CALL_PROGRAM_H_

// function(argument), with nothing of the runtime in any register: functions save on their stacks
// what the registers hold that belong to their caller, and the addresses of the runtime's objects
// are not the same in a replay.
extern "C" void* clew_call_program(void* (*function)(void*), void* argument);

#endif  // CLEW_RUNTIME_FIBER_CALL_PROGRAM_H_
