// What was isolated, for people: who is preempted where, which events decide, how far a switch
// can be moved.
#ifndef CLEW_HOST_ISOLATE_ANSWER_H_
#define CLEW_HOST_ISOLATE_ANSWER_H_

#include <cstdint>
#include <vector>

#include "host/error.h"
#include "host/isolate/experiment.h"
#include "host/isolate/narrowing.h"

namespace clew {

// The clocks at which the recordings of both sides note where the threads stand.
struct QueriedClocks {
  std::vector<std::uint64_t> failing;
  std::vector<std::uint64_t> passing;
};
[[nodiscard]] QueriedClocks clocks_to_query(const Narrowed& narrowed);

// Fills in the answer of the experiment's result. The recordings are of the two sides.
[[nodiscard]] Result<void> complete_answer(Experiment& experiment, const Narrowed& narrowed,
                                           const RecordedJob& failing, const RecordedJob& passing);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_ANSWER_H_
