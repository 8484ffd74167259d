// Runs that a watch has ended (`--fails-if race`, `--listener`): what it has seen is the cause by itself.
//
// Such a run ends before the access, or the lock, that is found: nothing comes of it that a slice could be followed back from, and
// no passing run is needed to say what is wrong.
#ifndef CLEW_HOST_EXPLAIN_FOUND_H_
#define CLEW_HOST_EXPLAIN_FOUND_H_

#include "host/error.h"
#include "host/explain/explanation.h"
#include "host/outcome.h"
#include "host/target/replay.h"

namespace clew {

[[nodiscard]] bool is_finding(FailureKind kind);

// Whether the failing run alone tells why: who waits for what, what a watch has found.
[[nodiscard]] bool shows_by_itself(FailureKind kind);

// Fills in the cause and its places. Runs the recording again, up to three times: for what was found, for the stacks, for the names.
// Fails if it departs.
[[nodiscard]] Result<void> tell_finding(const Replay& failing, RunObserver& observer,
                                        Explanation& result);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_FOUND_H_
