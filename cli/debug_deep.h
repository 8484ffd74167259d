// clew debug --deep: what many runs show, beside what one pair of runs shows.
#ifndef CLEW_CLI_DEBUG_DEEP_H_
#define CLEW_CLI_DEBUG_DEEP_H_

#include <optional>

#include "cli/hunt_options.h"
#include "host/explain/explanation.h"
#include "host/recording/recording.h"
#include "host/report/run_json.h"
#include "host/target/interrupts.h"

namespace clew::cli {

// Pinpoints and ranks the program, `seconds` for each at most, prints both in short and whether they
// agree with the explanation, and puts them into `json`.
void look_deeper(const HuntCommand& command, double seconds,
                 const std::optional<Explanation>& explanation, RecordingStore& store,
                 const Interrupts& interrupts, Json& json);

}  // namespace clew::cli

#endif  // CLEW_CLI_DEBUG_DEEP_H_
