// Which instances of a run belong to the same piece of work of their thread.
#ifndef CLEW_HOST_EXPLAIN_ACTIVITY_H_
#define CLEW_HOST_EXPLAIN_ACTIVITY_H_

#include "host/explain/traced_pair.h"

namespace clew {

// The innermost call that both are in; kNoFrame: none.
[[nodiscard]] FrameIndex shared_frame(const RunTrace& run, Instance a, Instance b);

// Of the failing run: both in one call of a function of the user's, or in what it calls.
[[nodiscard]] bool same_activity(TracedPair& pair, Instance a, Instance b,
                                 WhichRun side = kFailing);

// Where in the code of the call `frame`, which it is in, an instance happens; 0: not known.
[[nodiscard]] std::uint64_t site_in(const RunTrace& run, Instance at, FrameIndex frame);

// Whether `before`, of the same thread as `write` and `later`, belongs to an earlier round of what those are in: it is
// in another call, or in the same and its code comes behind that of the write, although it happened before it.
[[nodiscard]] bool is_of_earlier_round(const RunTrace& run, Instance before, Instance write,
                                       Instance later);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_ACTIVITY_H_
