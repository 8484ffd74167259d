// What watches have found, in source lines and names.
#ifndef CLEW_HOST_SYMBOLIZE_FINDINGS_H_
#define CLEW_HOST_SYMBOLIZE_FINDINGS_H_

#include <string>

#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"
#include "host/target/run_target.h"

namespace clew {

// Fills in RunSummary::findings from what the runtime has reported.
void locate_findings(RunResult& run, Symbolizer& symbols);

// Fills in FindingReport::Site::frames: while the run is watched, only the place of an access is kept,
// so the recording is replayed and asked for the stacks. A replay that fails or departs tells nothing.
void find_stacks_of_findings(const std::string& recording, RunResult& run, RunObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_SYMBOLIZE_FINDINGS_H_
