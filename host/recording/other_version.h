// The error for a file of another version of clew.
#ifndef CLEW_HOST_RECORDING_OTHER_VERSION_H_
#define CLEW_HOST_RECORDING_OTHER_VERSION_H_

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "host/error.h"

namespace clew {

struct FileVersion {
  std::uint64_t format = 0;
  std::uint64_t abi = 0;
  bool operator==(const FileVersion&) const = default;
};

// REQUIRES: found != own.
[[nodiscard]] inline Error other_version(std::string_view name, FileVersion found,
                                         FileVersion own) {
  const bool earlier = found.format <= own.format && found.abi <= own.abi;
  return Error{ErrorCode::kBadInput,
               fmt::format("{} belongs to a recording of {} clew: it has version {}.{}, this clew "
                           "reads {}.{}",
                           name, earlier ? "an earlier" : "another", found.format, found.abi,
                           own.format, own.abi),
               "use the clew that made it, or record again"};
}

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_OTHER_VERSION_H_
