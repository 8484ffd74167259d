// A recording in one file, with the program and all that it loads (docs/export.md): what clew export
// writes and clew import reads.
//
// The file comes from somebody else. Reading it takes a fixed amount of memory, writes nothing outside
// of the new recording's folder, and never more than a multiple of the file's size; names in it are
// compared with those that its own meta.json implies, and are not used for anything else.
#ifndef CLEW_HOST_RECORDING_ARCHIVE_H_
#define CLEW_HOST_RECORDING_ARCHIVE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "host/error.h"
#include "host/recording/meta.h"
#include "host/recording/recording.h"
#include "host/recording/start_file.h"

namespace clew {

// Bumped with every change of the file's own structure.
inline constexpr std::uint32_t kArchiveVersion = 1;

// Of what a file may become: so much, and so many times its size.
inline constexpr std::uint64_t kAlwaysUnpacked = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostUnpacked = 256;

// Writes the recording in `folder` as `meta` says, with the files of the bundle. A file of that name
// must not exist; after an error there is none. Returns its size.
[[nodiscard]] Result<std::uint64_t> write_archive(const std::filesystem::path& to,
                                                  const std::filesystem::path& folder,
                                                  const Meta& meta, const Bundle& bundle);

// What becomes of an archive's content.
class ArchiveSink {
 public:
  virtual ~ArchiveSink() = default;
  // All of its parts follow, in order, each with its bytes.
  [[nodiscard]] virtual Result<void> begin(const Meta& meta, const Bundle& bundle) = 0;
  // `name`: relative, with folders, made by this clew.
  [[nodiscard]] virtual Result<void> part(const std::string& name) = 0;
  [[nodiscard]] virtual Result<void> bytes(std::span<const std::uint8_t> bytes) = 0;
  [[nodiscard]] virtual Result<void> part_ends() = 0;
};

// Fills the span as far as there are bytes; how many it were.
using ArchiveSource = std::function<Result<std::size_t>(std::span<std::uint8_t>)>;

// Everything is checked by the time it returns; the sink sees bytes before. `size` is that of the
// whole file, `name` what errors call it.
[[nodiscard]] Result<void> read_archive(const ArchiveSource& source, std::uint64_t size,
                                        const std::string& name, ArchiveSink& sink);

// A new recording from a file.
[[nodiscard]] Result<Recording> import_archive(const std::filesystem::path& from,
                                               RecordingStore& store);

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_ARCHIVE_H_
