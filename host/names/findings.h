// What watches have found, in source lines and names.
#ifndef CLEW_HOST_NAMES_FINDINGS_H_
#define CLEW_HOST_NAMES_FINDINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "host/symbolize/symbolizer.h"
#include "host/target/run_result.h"
#include "host/target/run_target.h"

namespace clew {

// Fills in RunSummary::findings from what the runtime has reported.
void locate_findings(RunResult& run, Symbolizer& symbols);

// abi::FindingKey of it.
[[nodiscard]] std::uint64_t key_of(const FindingReport& found);

// Fills in FindingReport::Site::frames: while the run is watched, only the place of an access is kept,
// so the recording is replayed and asked for the stacks. A replay that fails or departs tells nothing.
void find_stacks_of_findings(const std::string& recording, RunResult& run, RunObserver& observer);

// The race of exactly these two events of a recording, by their clocks; nothing: a watched replay shows
// none, or cannot be made.
[[nodiscard]] std::optional<Finding> race_between(const std::string& recording, std::uint64_t first,
                                                  std::uint64_t second, RunObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_FINDINGS_H_
