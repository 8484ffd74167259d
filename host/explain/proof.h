// What is told, put to the test: steps, orders, checks, joint causes.
#ifndef CLEW_HOST_EXPLAIN_PROOF_H_
#define CLEW_HOST_EXPLAIN_PROOF_H_

#include "host/explain/laboratory.h"
#include "host/explain/told_cause.h"

namespace clew {

// Sets what was confirmed, and corrects the cause by what the runs show.
void experiment(TracedPair& pair, Naming& naming, const Replay& failing, const Replay& passing,
                const ExperimentLimits& limits, ToldCause& told, Explanation& result);

// If no slice leads from the failure to another thread: of all that the program reads from another thread's write than in the passing run, what
// makes the failing run pass if it comes in the order of that run. Its steps are the two ends alone. Sets the number of tests.
[[nodiscard]] ToldCause find_by_order(TracedPair& pair, Naming& naming, const Replay& failing,
                                      const Replay& passing, const ExperimentLimits& limits,
                                      const PathNode& failure, Explanation& result);

// Likewise: what came of a call, if the run passes by a schedule alone in which that is different. `led`: what the slices have; sorted.
[[nodiscard]] ToldCause find_by_outcome(TracedPair& pair, Naming& naming, const Replay& failing,
                                        const Replay& passing, const ExperimentLimits& limits,
                                        const PathNode& failure, const std::vector<NodeId>& led,
                                        Explanation& result);

// Of threads that wait for ever, but not in a circle: whether it comes from what came of a call.
void test_waiting(TracedPair& pair, Naming& naming, const Replay& failing, const Replay& passing,
                  const ExperimentLimits& limits, Explanation& result);

// Locks that are taken in a circle: with one taken later, does it pass?
void test_locks(TracedPair& pair, const Replay& failing, const Replay& passing,
                const ExperimentLimits& limits, Explanation& result);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_PROOF_H_
