// The file `schedule` of a recording (docs/recording-format.md): the entries of a
// stream in compressed columns, every block with a checksum.
#ifndef CLEW_HOST_RECORDING_SCHEDULE_FILE_H_
#define CLEW_HOST_RECORDING_SCHEDULE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "host/schedule/stream.h"

namespace clew {

// Limits of what is written, and therefore of what is accepted.
inline constexpr std::uint64_t kMaxScheduleStream = std::uint64_t{2} << 30;  // bytes, decoded
inline constexpr std::size_t kMaxNamesBytes = std::size_t{16} << 20;

// Writes block by block; holds at most one block of entries. After an error it cannot be used any
// more.
class ScheduleFileWriter {
 public:
  // Creates the file. REQUIRES: there is none of this name.
  [[nodiscard]] static Result<ScheduleFileWriter> create(const std::filesystem::path& path);

  ScheduleFileWriter(ScheduleFileWriter&&) noexcept;
  ScheduleFileWriter& operator=(ScheduleFileWriter&&) noexcept;
  ~ScheduleFileWriter();

  // Entries in the order of their clocks, no messages.
  [[nodiscard]] Result<void> append(const Entry& entry);

  // Makes everything that was appended readable in the file (read_schedule_beginning).
  [[nodiscard]] Result<void> flush();

  // Writes the rest, the names and the trailer, and closes.
  [[nodiscard]] Result<void> finish(const std::vector<std::string>& names);

 private:
  struct State;
  explicit ScheduleFileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

[[nodiscard]] Result<Stream> read_schedule_file(const std::filesystem::path& path);

// The first entries of a file, which may still be written to. Fewer than `count` are an error.
[[nodiscard]] Result<std::vector<Entry>> read_schedule_beginning(const std::filesystem::path& path,
                                                                 std::uint64_t count);

// Reads a whole file from memory; `name` is its name in errors.
[[nodiscard]] Result<Stream> read_schedule_bytes(std::span<const std::uint8_t> bytes,
                                                 std::string_view name);

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_SCHEDULE_FILE_H_
