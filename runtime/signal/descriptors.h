// signalfd: a descriptor from which signals that are pending are read. In the kernel it is an
// eventfd, which is ready while there is something to read.
#ifndef CLEW_RUNTIME_SIGNAL_DESCRIPTORS_H_
#define CLEW_RUNTIME_SIGNAL_DESCRIPTORS_H_

#include "runtime/outside/calls.h"

namespace clew::rt {

// signalfd and signalfd4.
long signal_descriptor_call(const Call& call);
bool is_signal_descriptor(int fd);
// read() of one.
long read_signals(const Call& call);
void close_signal_descriptor(int fd);
// What is pending has changed.
void update_signal_descriptors();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_DESCRIPTORS_H_
