// Where the locks of a deadlock were taken. At the time only a code address is kept, and that
// may lie in a header (std::mutex::lock); so the run is replayed and asked.
#ifndef CLEW_HOST_REPORT_HOLDS_H_
#define CLEW_HOST_REPORT_HOLDS_H_

#include <string>

#include "host/target/run_result.h"
#include "host/target/run_target.h"

namespace clew {

// A run that took longer is not replayed just for a better report.
inline constexpr double kMostSecondsToAskAgain = 20;

// Fills in HoldReport::taken_at as far as the replay of the recording tells; a replay that
// fails or departs tells nothing.
void locate_holds(const std::string& recording, RunResult& run, RunObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_REPORT_HOLDS_H_
