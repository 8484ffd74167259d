// Finding the program under test and making sure, before it runs, that clew can steer it.
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

// What has to be loaded into the program so that clew can steer it: nothing if it was built with
// clew, otherwise the path of the runtime. Fails with one clear line unless `path` is a dynamically
// linked x86-64 executable that can be steered. `shown` is the name that the user knows it by.
[[nodiscard]] Result<std::string> preload_for(const std::string& path, const std::string& shown);

// All of it for a command line: found, checked, and planned as plan_here() does.
[[nodiscard]] Result<LaunchPlan> plan_program(const std::vector<std::string>& command);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_PROGRAM_H_
