#include "host/recording/content_hash.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <vector>

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

Result<FileContent> hash_file(const std::filesystem::path& path, Whose whose,
                              std::optional<std::uint64_t> expected) {
  CLEW_TRY(const auto file, open_regular(path, whose));
  FileContent content;
  content.size = file.size;
  if (expected && *expected != file.size) return content;
  ContentHasher hasher;
  content.size = 0;
  std::vector<std::uint8_t> chunk(std::size_t{256} << 10);
  // No further than it was when it was opened: it may grow as fast as it is read.
  while (content.size < file.size) {
    const std::size_t most = std::min<std::uint64_t>(chunk.size(), file.size - content.size);
    const std::ptrdiff_t got = read_fully(file.fd.get(), std::span(chunk).first(most));
    if (got < 0) return std::unexpected(system_error("read", path, errno));
    if (got == 0) break;
    hasher.update(std::span(chunk).first(static_cast<std::size_t>(got)));
    content.size += static_cast<std::uint64_t>(got);
  }
  content.hash = hasher.digest();
  return content;
}

}  // namespace clew
