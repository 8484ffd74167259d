// Waits for a condition whose threads do not look again whether they should wait: what they have decided by, whether they look at it when
// they are back, and who has changed it meanwhile. Of the failing run.
#ifndef CLEW_HOST_EXPLAIN_WAIT_CHECKS_H_
#define CLEW_HOST_EXPLAIN_WAIT_CHECKS_H_

#include <cstdint>
#include <vector>

#include "host/explain/traced_pair.h"

namespace clew {

// What the thread went by when it decided to wait, in the function of the user's that waits: what each branch of the condition was decided by,
// the nearest first, as `if (queue.empty() && !closed)` has two. Its own stack, and what the library does for the wait, are left out.
struct CheckedRead {
  Instance read;
  std::uint32_t access = 0;  // of the block
  std::uint64_t address = 0;
  std::uint32_t size = 0;
};
[[nodiscard]] std::vector<std::vector<CheckedRead>> checked_reads(TracedPair& pair, Instance wait);

// Whether the thread looks at any of that again when the wait has returned: before it releases a lock, and so that a branch depends on it. If
// nothing is given: whether it looks so at anything that another thread has written.
[[nodiscard]] bool looks_again(TracedPair& pair, Instance wait,
                               const std::vector<CheckedRead>& checked);

// A wait that was ended by a signal, and whose thread does not look again whether it should wait, although others have changed that
// between the signal and its return.
struct StaleWakeUp {
  Instance wait;
  StepIndex back = kNoStep;  // where the thread is back in the user's function that waits
  Instance signal;
  CheckedRead checked;
  Instance change;  // the last by another thread
  Instance next;    // the first event of the waiting thread behind it; not valid: none
};
[[nodiscard]] std::vector<StaleWakeUp> stale_wake_ups(TracedPair& pair);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_WAIT_CHECKS_H_
