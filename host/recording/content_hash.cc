#include "host/recording/content_hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <new>
#include <vector>

#include "host/recording/file.h"

namespace clew {

std::uint64_t content_hash(std::span<const std::uint8_t> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void ContentHasher::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

ContentHasher::ContentHasher() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

ContentHasher::ContentHasher(const ContentHasher& other) : ContentHasher() {
  XXH3_copyState(state_.get(), other.state_.get());
}

ContentHasher& ContentHasher::operator=(const ContentHasher& other) {
  if (this != &other) *this = ContentHasher(other);
  return *this;
}

void ContentHasher::update(std::span<const std::uint8_t> bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t ContentHasher::digest() const { return XXH3_64bits_digest(state_.get()); }

Result<FileContent> hash_file(const std::filesystem::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return std::unexpected(system_error("read", path, errno));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return std::unexpected(system_error("read", path, errno));
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::kBadInput, fmt::format("cannot read {}: not a file", path.string()));
  ContentHasher hasher;
  FileContent content;
  std::vector<std::uint8_t> chunk(std::size_t{256} << 10);
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(system_error("read", path, errno));
    if (got == 0) break;
    hasher.update({chunk.data(), static_cast<std::size_t>(got)});
    content.size += static_cast<std::uint64_t>(got);
  }
  content.hash = hasher.digest();
  return content;
}

}  // namespace clew
