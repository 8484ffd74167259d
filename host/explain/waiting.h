// Threads that wait for ever: for what, who has it, who should have woken them.
#ifndef CLEW_HOST_EXPLAIN_WAITING_H_
#define CLEW_HOST_EXPLAIN_WAITING_H_

#include <vector>

#include "host/explain/explanation.h"
#include "host/explain/naming.h"
#include "host/explain/story.h"
#include "host/explain/traced_pair.h"

namespace clew {

// The cause of a deadlock, and its events in the order of the failing run.
struct Waiting {
  Cause cause;
  std::vector<StoryStep> story;
  // What to follow back: wake-ups of the passing run that do not come in the failing one, then calls that do
  // not return, those of threads that only wait for others last.
  std::vector<PathNode> starts;
  bool stops_others = false;  // each who could wake one of them waits, too
};

[[nodiscard]] Waiting find_waiting(TracedPair& pair, Naming& naming);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_WAITING_H_
