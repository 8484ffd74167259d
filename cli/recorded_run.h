// One run of a program, recorded and reported: clew run, and clew replay --live.
#ifndef CLEW_CLI_RECORDED_RUN_H_
#define CLEW_CLI_RECORDED_RUN_H_

#include <string>

#include "host/error.h"
#include "host/target/launch_plan.h"

namespace clew::cli {

// `json`: the file for the result, "-" for standard output, empty for none. Returns the exit status
// of the command.
Result<int> recorded_run(LaunchPlan plan, const std::string& json);

}  // namespace clew::cli

#endif  // CLEW_CLI_RECORDED_RUN_H_
