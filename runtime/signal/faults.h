// Signals that the processor raises. They are handled on the spot, by the program's handler or by a
// report.
#ifndef CLEW_RUNTIME_SIGNAL_FAULTS_H_
#define CLEW_RUNTIME_SIGNAL_FAULTS_H_

namespace clew::rt {

// Whether the signal is a fault. The kernel delivers these to the runtime's handler in any case.
bool is_fault(int signal);

// The program's own handlers are called from the runtime's.
void install_fault_handlers();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_FAULTS_H_
