// What the files of this folder share.
#ifndef CLEW_RUNTIME_SIGNAL_INTERNAL_H_
#define CLEW_RUNTIME_SIGNAL_INTERNAL_H_

#include "runtime/signal/signals.h"

namespace clew::rt {

// A system call that ended because its thread is cancelled: the caller acts on it. Beyond what the
// kernel answers.
inline constexpr long kCancelled = -5000;

// In a signal handler.
void note_arrived(const siginfo_t& info);
std::uint64_t pending_set(const Fiber& fiber);
void forget_pending();
void forget_arrived();  // and not posted yet
void reset_action(int signal);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_INTERNAL_H_
