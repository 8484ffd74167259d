// clew hunt --each: the test cases of a test program, one hunt each. And JUnit XML, which is for
// test cases, also if the whole program counts as one.
#ifndef CLEW_CLI_HUNT_EACH_H_
#define CLEW_CLI_HUNT_EACH_H_

#include <string>

#include "host/error.h"
#include "host/recording/recording.h"
#include "host/search/hunt.h"

namespace clew::cli {

// Time and number of schedules in `options` are for all test cases together.
// Returns the exit status.
[[nodiscard]] Result<int> hunt_each(const HuntOptions& options, RecordingStore& store,
                                    const std::string& json, const std::string& junit);

// Of a hunt for the whole program. "-" is standard output; nothing happens if `target` is empty.
[[nodiscard]] Result<void> write_junit(const std::string& target, const HuntOptions& options,
                                       const HuntResult& result, const RecordingStore& store);

}  // namespace clew::cli

#endif  // CLEW_CLI_HUNT_EACH_H_
