// Where in the source a run failed, and where the locks of a deadlock were taken.
#ifndef CLEW_HOST_SYMBOLIZE_LOCATE_H_
#define CLEW_HOST_SYMBOLIZE_LOCATE_H_

#include <string>

#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"
#include "host/target/run_target.h"

namespace clew {

// Fills in the source line of the failure from its frames, if the runtime named none.
void locate_failure(RunResult& run, Symbolizer& symbols);

// A run that took longer is not replayed just for a better report.
inline constexpr double kMostSecondsToAskAgain = 20;

// Fills in HoldReport::taken_at. When a lock is taken, only a code address is kept, and that may
// lie in a header (std::mutex::lock); so the recording is replayed and asked for the stacks. A
// replay that fails or departs tells nothing.
void locate_holds(const std::string& recording, RunResult& run, RunObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_LOCATE_H_
