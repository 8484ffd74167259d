// signalfd: a descriptor from which signals that are pending are read. In the kernel it is an
// eventfd, which is ready while there is something to read.
#ifndef CLEW_RUNTIME_OUTSIDE_SIGNAL_DESCRIPTORS_H_
#define CLEW_RUNTIME_OUTSIDE_SIGNAL_DESCRIPTORS_H_

#include "runtime/outside/calls.h"
#include "runtime/sched/fiber.h"

namespace clew::rt {

// signalfd and signalfd4.
long signal_descriptor_call(const Call& call);
bool is_signal_descriptor(int fd);
// read() of one.
long read_signals(const Call& call);
void close_signal_descriptor(int fd);

// Makes the descriptors show what is pending for the thread, or nothing, until the next such call.
// REQUIRED before the kernel is asked on behalf of that thread.
void show_signals_to(const Fiber& fiber);
void show_signals_to_nobody();
// This process is a copy: what the descriptors show belongs to the original.
void forget_what_signals_show();
// Whether threads see different states, because a signal is pending for one of them alone.
bool signals_differ_by_thread();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_OUTSIDE_SIGNAL_DESCRIPTORS_H_
