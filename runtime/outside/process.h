// What the process-making calls need of the rest of the runtime.
#ifndef CLEW_RUNTIME_OUTSIDE_PROCESS_H_
#define CLEW_RUNTIME_OUTSIDE_PROCESS_H_

namespace clew::rt {

// The runtime is no longer in charge of this process (a copy of the program).
void leave_charge();

// Whether this process is a copy that fork() made, which goes on without clew.
bool is_copy();

// The program ends with this status, at once.
[[noreturn]] void leave_program(int status);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_PROCESS_H_
