// Finding the program under test and making sure, before it runs, that clew can control it.
#ifndef CLEW_HOST_TARGET_PROGRAM_H_
#define CLEW_HOST_TARGET_PROGRAM_H_

#include <string>
#include <vector>

#include "host/error.h"
#include "host/target/launch_plan.h"

namespace clew {

// The absolute path of `name`, looked up in PATH as a shell does: a name with a slash is a path.
// Fails with one clear line if there is no such file, or it is a folder or not executable.
[[nodiscard]] Result<std::string> find_program(const std::string& name);

// What must be loaded into the program so that clew can control it: nothing if it was built with
// clew, otherwise the path of the runtime. Fails with one clear line unless `path` is a dynamically
// linked x86-64 executable that can be controlled. `shown` is the name by which the user knows it.
[[nodiscard]] Result<std::string> preload_for(const std::string& path, const std::string& shown);

// What the file shows, before it runs, of things that a recording does not keep, so that a replay
// may depart: one line each, without a full stop.
[[nodiscard]] std::vector<std::string> not_kept_of(const std::string& program);

// Does all of this for a command line: finds the program, checks it, and plans as plan_here() does.
[[nodiscard]] Result<LaunchPlan> plan_program(const std::vector<std::string>& command);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_PROGRAM_H_
