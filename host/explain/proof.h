// What is told, put to the test: steps, orders, checks, joint causes.
#ifndef CLEW_HOST_EXPLAIN_PROOF_H_
#define CLEW_HOST_EXPLAIN_PROOF_H_

#include "host/explain/laboratory.h"
#include "host/explain/told_cause.h"

namespace clew {

// Sets what was confirmed, and corrects the cause by what the runs show.
void experiment(TracedPair& pair, Naming& naming, const Replay& failing, const Replay& passing,
                const ExperimentLimits& limits, ToldCause& told, Explanation& result);

// Locks that are taken in a circle: with one taken later, does it pass?
void test_locks(TracedPair& pair, const Replay& failing, const Replay& passing,
                const ExperimentLimits& limits, Explanation& result);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_PROOF_H_
