#include "host/recording/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "host/recording/owner.h"

namespace clew {
namespace {

// A file system that compresses keeps text in a tenth of its size, and no file of clew's or of a
// compiler's has holes.
constexpr std::uint64_t kLargeFile = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostSparse = 64;

std::string_view hint_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room on the disk (clew rm removes old recordings); earlier recordings are "
             "intact";
    case EACCES:
    case EPERM:
      return "go to a folder that you may write to, or correct the permissions";
    case EROFS:
      return "go to a folder on a disk that can be written to";
    case ENOTDIR:
    case EEXIST:
      return "something else has that name: move it away, or go to another folder";
    case EMFILE:
    case ENFILE:
      return "too many files are open: raise the limit (ulimit -n)";
    default:
      return "";
  }
}

}  // namespace

Error system_error(std::string_view verb, const std::filesystem::path& path, int error_number) {
  return Error{ErrorCode::kSystem,
               fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(error_number)),
               std::string(hint_for(error_number))};
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<OutputFile> OutputFile::create(std::filesystem::path path) {
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return std::unexpected(system_error("create", path, errno));
  return OutputFile(std::move(path), std::move(fd));
}

Result<void> OutputFile::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(system_error("write", path_, errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> OutputFile::close() {
  // After an error of close(2) the descriptor is closed nevertheless.
  if (::close(fd_.release()) != 0 && errno != EINTR)
    return std::unexpected(system_error("write", path_, errno));
  return {};
}

Result<RegularFile> open_regular(const std::filesystem::path& path, Whose whose) {
  // O_NONBLOCK: a pipe of this name must not stop us.
  const int follow = whose == Whose::kOwn ? O_NOFOLLOW : 0;
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | follow));
  const auto refused = [&path](std::string_view why) {
    return fail(ErrorCode::kBadInput, fmt::format("cannot read {}: {}", path.string(), why));
  };
  if (!fd.valid() && errno == ELOOP && whose == Whose::kOwn)
    return refused("it is a symbolic link");
  if (!fd.valid() && errno == ENXIO) return refused("not a file");  // a socket
  if (!fd.valid()) return std::unexpected(system_error("read", path, errno));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return std::unexpected(system_error("read", path, errno));
  if (!S_ISREG(status.st_mode)) return refused("not a file");
  if (whose == Whose::kOwn) CLEW_CHECK_OK(check_owner(path, status));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto on_disk = static_cast<std::uint64_t>(status.st_blocks) * 512;
  if (size > kLargeFile && on_disk < size / kMostSparse)
    return refused(
        fmt::format("it claims {} bytes, of which only {} are on the disk", size, on_disk));
  return RegularFile{std::move(fd), size};
}

std::ptrdiff_t read_fully(int fd, std::span<std::uint8_t> bytes) {
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(fd, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return static_cast<std::ptrdiff_t>(have);
}

namespace {

Result<std::vector<std::uint8_t>> read_opened(const RegularFile& file,
                                              const std::filesystem::path& path,
                                              std::uint64_t size) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  const std::ptrdiff_t got = read_fully(file.fd.get(), bytes);
  if (got < 0) return std::unexpected(system_error("read", path, errno));
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

}  // namespace

Result<std::vector<std::uint8_t>> read_file(const std::filesystem::path& path, std::uint64_t limit,
                                            Whose whose) {
  CLEW_TRY(const auto file, open_regular(path, whose));
  if (file.size > limit)
    return fail(ErrorCode::kBadInput,
                fmt::format("cannot read {}: {} bytes, at most {} are allowed", path.string(),
                            file.size, limit));
  return read_opened(file, path, file.size);
}

Result<std::vector<std::uint8_t>> read_file_start(const std::filesystem::path& path,
                                                  std::uint64_t limit) {
  CLEW_TRY(const auto file, open_regular(path));
  return read_opened(file, path, std::min(file.size, limit));
}

Result<void> write_file_atomically(const std::filesystem::path& path,
                                   std::span<const std::uint8_t> bytes, Durability durability) {
  std::filesystem::path draft = path;
  draft += ".part";
  ::unlink(draft.c_str());
  CLEW_TRY(auto file, OutputFile::create(draft));
  auto done = file.write(bytes);
  if (done) done = file.close();
  if (done && durability == Durability::kPowerCut) done = sync_path(draft);
  if (done && ::rename(draft.c_str(), path.c_str()) != 0)
    done = std::unexpected(system_error("write", path, errno));
  if (!done) ::unlink(draft.c_str());
  if (done && durability == Durability::kPowerCut) done = sync_path(path.parent_path());
  return done;
}

Result<void> sync_path(const std::filesystem::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // EINVAL: a file system that cannot sync folders.
  if (!fd.valid() || (::fsync(fd.get()) != 0 && errno != EINVAL))
    return std::unexpected(system_error("write", path, errno));
  return {};
}

}  // namespace clew
