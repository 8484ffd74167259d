// What replay, where and show say about a replay that was not the same as its recording.
#ifndef CLEW_CLI_REPLAY_REPORT_H_
#define CLEW_CLI_REPLAY_REPORT_H_

#include <string>
#include <vector>

#include "host/symbolize/symbolizer.h"
#include "host/target/replay.h"

namespace clew::cli {

// "recording 7", or its path if it has no number
std::string recording_name(const Recording& recording);

// "fail (output): the output contains 'lost'", if only the criteria of the hunt call it a failure;
// otherwise empty.
std::string judged_line(const Recording& recording);

// Notes about what may make a difference because this is another machine.
void print_other_machine(const Recording& recording);

void print_departure(const Replay& replay, const RunResult& run,
                     const std::vector<std::string>& lines, Symbolizer& symbols);

}  // namespace clew::cli

#endif  // CLEW_CLI_REPLAY_REPORT_H_
