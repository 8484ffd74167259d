// Cancellation of threads (pthread_cancel). A deferred one acts at cancellation points: at their
// beginning (test_cancel), and in waits that may end by it (kCancel).
#ifndef CLEW_RUNTIME_SIGNAL_CANCEL_H_
#define CLEW_RUNTIME_SIGNAL_CANCEL_H_

#include "runtime/sched/fiber.h"
#include "runtime/thread/thread_block.h"

namespace clew::rt {

// The answer of a system call that ended because its thread is cancelled: the caller acts on it.
// Beyond what the kernel answers.
inline constexpr long kCancelled = -5000;

// Whether the thread would be cancelled at a cancellation point.
inline bool cancel_wanted(const Fiber& fiber) {
  const Cancellation& state = fiber.cancellation;
  return state.pending && !state.disabled && !state.ending && !libc_disables_cancel(fiber);
}

// Whether the thread is cancelled anywhere, not only at cancellation points.
inline bool cancels_at_once(const Fiber& fiber) { return fiber.cancellation.asynchronous; }

// Ends the running thread with PTHREAD_CANCELED, after its cleanup handlers and destructors.
[[noreturn]] void act_on_cancel();

// What a cancellation point does first.
void test_cancel();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SIGNAL_CANCEL_H_
