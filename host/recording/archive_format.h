// The structure of an archive, for its writer and its reader (docs/export.md).
#ifndef CLEW_HOST_RECORDING_ARCHIVE_FORMAT_H_
#define CLEW_HOST_RECORDING_ARCHIVE_FORMAT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/recording/meta.h"
#include "host/recording/start_file.h"

namespace clew::archive_format {

inline constexpr std::array<std::uint8_t, 8> kMagic{'c', 'l', 'e', 'w', 'e', 'x', 'p', 0};
inline constexpr std::size_t kHeader = kMagic.size() + 4 + 4;  // version, abi version
inline constexpr std::string_view kMetaName = "meta.json";
inline constexpr std::string_view kMachineName = "machine";
inline constexpr std::string_view kBundleName = "files";
inline constexpr std::size_t kMaxBundleText = std::size_t{8} << 20;
inline constexpr std::size_t kMaxName = 8192;
inline constexpr std::uint64_t kMaxSchedule = std::uint64_t{4} << 30;
// 8 MiB: a file whose decompression needs more memory was not written by clew.
inline constexpr int kWindowLog = 23;

struct Part {
  std::string name;
  std::optional<std::uint64_t> size;  // none: at most kMaxSchedule
  std::optional<std::uint64_t> hash;
};

// What follows meta.json, machine and files, in this order.
inline std::vector<Part> parts_of(const Meta& meta, const Bundle& bundle) {
  const auto captured = [](std::string name, const Captured& of) {
    return Part{std::move(name), of.stored, of.stored_hash};
  };
  std::vector<Part> parts{{"schedule", {}, {}},
                          captured("stdout", meta.stdout_data),
                          captured("stderr", meta.stderr_data)};
  if (meta.stdin_data) parts.push_back(captured("stdin", *meta.stdin_data));
  if (meta.inputs) parts.push_back(captured("inputs", *meta.inputs));
  for (std::size_t i = 0; i < bundle.size(); ++i)
    parts.push_back({place_of(bundle, i), bundle[i].size, bundle[i].hash});
  return parts;
}

}  // namespace clew::archive_format

#endif  // CLEW_HOST_RECORDING_ARCHIVE_FORMAT_H_
