// What sent a thread the wrong way (wrong_turn.h), tested by schedules and told.
#ifndef CLEW_HOST_EXPLAIN_TOLD_TURN_H_
#define CLEW_HOST_EXPLAIN_TOLD_TURN_H_

#include "host/explain/explanation.h"
#include "host/explain/laboratory.h"
#include "host/explain/naming.h"
#include "host/explain/root_cause.h"

namespace clew {

// Who comes to a use of what is freed, or has freed it, by a check that another has come before: with that check first, by a schedule alone, the
// run must pass. Then the check is the cause, and the use is what follows.
void find_split(Laboratory& laboratory, Naming& naming, const Replay& failing, const Root& root,
                Explanation& result);

// A flag that is set too early decides by which way the reader comes to what is not yet written: with the flag read before it is set, by a schedule
// alone, the run must pass.
void find_flag(Laboratory& laboratory, Naming& naming, const Replay& failing, const Root& root,
               Cause& cause);

}  // namespace clew

#endif  // CLEW_HOST_EXPLAIN_TOLD_TURN_H_
