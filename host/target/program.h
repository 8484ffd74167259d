// Finding the program under test and making sure, before it runs, that clew can steer it.
#ifndef CLEW_HOST_TARGET_PROGRAM_H_
#define CLEW_HOST_TARGET_PROGRAM_H_

#include <string>

#include "host/error.h"

namespace clew {

// The absolute path of `name`, looked up in PATH as a shell does: a name with a slash is a path.
// Fails with one clear line if there is no such file, or it is a folder or not executable.
[[nodiscard]] Result<std::string> find_program(const std::string& name);

// Fails unless `path` is a dynamically linked x86-64 executable that was built with clew.
// `shown` is the name that the user knows it by.
[[nodiscard]] Result<void> check_program(const std::string& path, const std::string& shown);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_PROGRAM_H_
