// What the process-making calls need of the rest of the runtime.
#ifndef CLEW_RUNTIME_OUTSIDE_PROCESS_H_
#define CLEW_RUNTIME_OUTSIDE_PROCESS_H_

namespace clew::rt {

// This process is a copy of the program, with one thread, and nobody records it.
void go_on_without_clew();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_PROCESS_H_
