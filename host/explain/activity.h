// Which instances of a run belong to the same piece of work of their thread.
#ifndef CLEW_HOST_EXPLAIN_ACTIVITY_H_
#define CLEW_HOST_EXPLAIN_ACTIVITY_H_

#include "host/explain/traced_pair.h"

namespace clew {

// The innermost call that both are in; kNoFrame: none.
[[nodiscard]] FrameIndex shared_frame(const RunTrace& run, Instance a, Instance b);

// Both in one call of a function of the user's, or in what it calls.
[[nodiscard]] bool same_activity(TracedPair& pair, Instance a, Instance b,
                                 WhichRun side = kFailing);

// Where in the code of the call `frame`, which it is in, an instance happens; 0: not known.
[[nodiscard]] std::uint64_t site_in(const RunTrace& run, Instance at, FrameIndex frame);

// Both in one activity, and in one round of each loop that has both, of the innermost call that they share.
[[nodiscard]] bool in_one_round(TracedPair& pair, Instance earlier, Instance later,
                                WhichRun side = kFailing);

// Whether `at` is in a loop that `other`, of the same thread, is not in: of the innermost call that they share, or of what that calls.
[[nodiscard]] bool in_loop_without(TracedPair& pair, Instance at, Instance other);

// Whether `before`, of the same thread as `write` and `later`, belongs to an earlier round of what those are in: it is
// in another call, or in the same and its code comes behind that of the write, although it happened before it.
[[nodiscard]] bool is_of_earlier_round(const RunTrace& run, Instance before, Instance write,
                                       Instance later);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_ACTIVITY_H_
