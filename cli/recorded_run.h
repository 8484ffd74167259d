// One run of a program, recorded and reported: clew run, and clew replay --live.
#ifndef CLEW_CLI_RECORDED_RUN_H_
#define CLEW_CLI_RECORDED_RUN_H_

#include <string>

#include "host/error.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/launch_plan.h"
#include "host/target/run_result.h"

namespace clew::cli {

// `json`: the file for the result, "-" for standard output, empty for none. Returns the exit status
// of the command.
Result<int> recorded_run(LaunchPlan plan, const std::string& json);

// What the watches have found, if there were any.
void print_findings(const LaunchPlan& plan, const RunResult& run, Symbolizer& symbols);

}  // namespace clew::cli

#endif  // CLEW_CLI_RECORDED_RUN_H_
