// Whether a recording was made by somebody whom the user trusts. Replaying a recording runs a
// program with arguments and an environment that the recording names, and judges it by a command
// that the recording names: what others can write must not be taken for the user's own, as git
// does not believe a repository of another user (safe.directory).
#ifndef CLEW_HOST_RECORDING_OWNER_H_
#define CLEW_HOST_RECORDING_OWNER_H_

#include <sys/stat.h>

#include <filesystem>

#include "host/error.h"

namespace clew {

// The folders that the user trusts all the same, with all below them: absolute paths, separated by
// colons; * is every folder.
inline constexpr char kSafeVariable[] = "CLEW_SAFE_DIRECTORY";

// `status` is of what `path` names. Fails if it belongs neither to this user nor to root (nor,
// under sudo, to the user who called it), or if others may write to it.
[[nodiscard]] Result<void> check_owner(const std::filesystem::path& path,
                                       const struct stat& status);

// The same for a folder, and for the symbolic link if it is one.
[[nodiscard]] Result<void> check_folder_owner(const std::filesystem::path& folder);

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_OWNER_H_
