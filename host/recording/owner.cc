#include "host/recording/owner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "host/quote.h"

namespace clew {
namespace {

namespace fs = std::filesystem;

bool lies_below(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end();
}

bool is_declared_safe(const fs::path& path) {
  const char* variable = std::getenv(kSafeVariable);
  if (variable == nullptr) return false;
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  for (std::string_view rest = variable; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path folder = fs::path(rest.substr(0, end)).lexically_normal();
    if (folder == "*") return true;
    const fs::path named = folder.has_filename() ? folder : folder.parent_path();  // "folder/"
    if (folder.is_absolute() && !error && lies_below(real, named)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// The user who became root by sudo.
bool is_caller_of_sudo(uid_t owner) {
  const char* text = std::getenv("SUDO_UID");
  if (geteuid() != 0 || text == nullptr) return false;
  uid_t caller = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, caller);
  return error == std::errc() && stop == end && caller == owner;
}

bool is_trusted(uid_t owner) {
  return owner == geteuid() || owner == 0 || is_caller_of_sudo(owner);
}

std::unexpected<Error> dubious(const fs::path& path, std::string_view why) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return fail(ErrorCode::kBadInput,
              fmt::format("{} {}, so what it says is not run", quote(path.string(), 200), why),
              fmt::format("if you trust it: export {}={}", kSafeVariable,
                          quote(error ? path.string() : real.string(), 400)));
}

}  // namespace

Result<void> check_owner(const fs::path& path, const struct stat& status) {
  const bool foreign = !is_trusted(status.st_uid);
  // A user's own group has no other members, or the user has decided who they are.
  const bool by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != getegid();
  const bool by_others = (status.st_mode & S_IWOTH) != 0 || by_group;
  if ((!foreign && !by_others) || is_declared_safe(path)) return {};
  return dubious(path, foreign ? fmt::format("belongs to another user (number {})", status.st_uid)
                               : std::string("can be written to by other users"));
}

Result<void> check_folder_owner(const fs::path& folder) {
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) return {};  // there is nothing to believe
  if (S_ISLNK(status.st_mode) && !is_trusted(status.st_uid) && !is_declared_safe(folder))
    return dubious(folder, "is a symbolic link that another user has made");
  if (::stat(folder.c_str(), &status) != 0) return {};
  return check_owner(folder, status);
}

}  // namespace clew
