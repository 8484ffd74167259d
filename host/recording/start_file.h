// The files that an imported recording brings along (docs/export.md): the program, its dynamic linker,
// and whatever that opened. They are in the folder `root` of the recording, under the paths that they had;
// a start file (abi/clew_abi/start_file.h) beside it tells clew-start how to begin the program with them.
#ifndef CLEW_HOST_RECORDING_START_FILE_H_
#define CLEW_HOST_RECORDING_START_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace clew {

inline constexpr std::size_t kMaxBundledFiles = 2048;
inline constexpr std::size_t kMaxBundledPath = 4095;
inline constexpr std::uint64_t kMaxBundledFile = std::uint64_t{4} << 30;
inline constexpr std::uint64_t kMaxBundle = std::uint64_t{8} << 30;  // all files together

struct BundledFile {
  std::string path;            // by which the dynamic linker asks for it
  std::filesystem::path file;  // what it gets
  std::uint64_t size = 0;
  std::uint64_t hash = 0;  // XXH3
};

// The program, the dynamic linker, others.
using Bundle = std::vector<BundledFile>;
inline constexpr std::size_t kBundledProgram = 0;
inline constexpr std::size_t kBundledLoader = 1;

// Where a file of the bundle is below a recording's folder: "root/" and its path, or if that has
// components that lead elsewhere, a place of its own.
[[nodiscard]] std::string place_of(const Bundle& bundle, std::size_t index);
// What is wrong with a bundle that was read; empty: nothing.
[[nodiscard]] std::string problem_of(const Bundle& bundle);

// Paths, sizes and hashes as they are in an archive.
[[nodiscard]] std::string format_bundle(const Bundle& bundle);
// `name` is what errors call it; `file` stays empty.
[[nodiscard]] Result<Bundle> parse_bundle(std::string_view text, std::string_view name);

struct StartFile {
  std::string started_as;  // what was given to exec()
  std::string program;     // its path, as it was
  std::string log;         // abi::StartText::kLog
  Bundle files;
};

// The name that every start file has: a program that is started as one is started by clew-start.
inline constexpr std::string_view kStartFileName = "program.clewstart";
[[nodiscard]] inline bool is_start_file(std::string_view started_as) {
  return started_as.ends_with("/program.clewstart");
}

[[nodiscard]] std::string format_start_file(const StartFile& start);
[[nodiscard]] Result<StartFile> read_start_file(const std::filesystem::path& path);
// Also fails unless its files are those of the recording that it belongs to, and as they were.
[[nodiscard]] Result<StartFile> check_start_file(const std::filesystem::path& path);

// The path of a file below `.clew/N/root` as it was before it was imported; of other files, the path
// itself.
[[nodiscard]] std::string path_before_import(const std::string& path);

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_START_FILE_H_
