// Files with every error checked: open, write, sync, close, rename.
// Nothing is synced unless Durability::kPowerCut requests it: on an ordinary disk one fdatasync
// takes 4 ms, as long as everything else in a short run. Without it a process that dies loses
// nothing, and what a power cut damages fails its checksum.
#ifndef CLEW_HOST_RECORDING_FILE_H_
#define CLEW_HOST_RECORDING_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/error.h"

namespace clew {

// "cannot <verb> <path>: <reason>", with a hint that fits the reason.
[[nodiscard]] Error system_error(std::string_view verb, const std::filesystem::path& path,
                                 int error_number);

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

enum class Durability : std::uint8_t {
  kKilled,    // what is written survives the end of any process
  kPowerCut,  // and of the machine
};

// A new file, mode 0600, written front to back.
class OutputFile {
 public:
  [[nodiscard]] static Result<OutputFile> create(std::filesystem::path path);

  [[nodiscard]] Result<void> write(std::span<const std::uint8_t> bytes);
  // Late errors (quota, network file systems) are reported here.
  [[nodiscard]] Result<void> close();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  OutputFile(std::filesystem::path path, FileDescriptor fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  std::filesystem::path path_;
  FileDescriptor fd_;
};

enum class Whose : std::uint8_t {
  kAnybodys,
  kOwn,  // a file of a recording: no symbolic link, and nobody else may have written it (owner.h)
};

struct RegularFile {
  FileDescriptor fd;
  std::uint64_t size = 0;
};

// Every file that clew reads and that others may have made is opened here. Neither a pipe nor a
// device is waited for or read; a large file of which nearly nothing is on the disk is refused,
// because reading it would take time that nothing limits. The size is what fstat() says: check it
// before memory is taken.
[[nodiscard]] Result<RegularFile> open_regular(const std::filesystem::path& path,
                                               Whose whose = Whose::kAnybodys);

// All of a regular file. More than `limit` bytes are an error.
[[nodiscard]] Result<std::vector<std::uint8_t>> read_file(const std::filesystem::path& path,
                                                          std::uint64_t limit,
                                                          Whose whose = Whose::kAnybodys);
// As much of it as `limit` allows.
[[nodiscard]] Result<std::vector<std::uint8_t>> read_file_start(const std::filesystem::path& path,
                                                                std::uint64_t limit);

// Reads until `bytes` is full or the file ends; how many bytes that were, or -1 and errno.
[[nodiscard]] std::ptrdiff_t read_fully(int fd, std::span<std::uint8_t> bytes);

// The file has the whole of `bytes`, or is as it was before.
[[nodiscard]] Result<void> write_file_atomically(const std::filesystem::path& path,
                                                 std::span<const std::uint8_t> bytes,
                                                 Durability durability);

// Syncs a file, or the entries of a folder, to the disk.
[[nodiscard]] Result<void> sync_path(const std::filesystem::path& path);

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_FILE_H_
