#include "host/recording/capture.h"

#include <algorithm>

namespace clew {

Result<CaptureWriter> CaptureWriter::create(const std::filesystem::path& path, std::uint64_t cap) {
  CLEW_TRY(auto file, OutputFile::create(path));
  return CaptureWriter(std::move(file), cap);
}

Result<void> CaptureWriter::append(std::span<const std::uint8_t> bytes) {
  const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(cap_ - stored_, bytes.size()));
  if (auto done = file_.write(bytes.first(room)); !done) return done;
  all_.update(bytes.first(room));
  stored_ += room;
  size_ += bytes.size();
  if (room == bytes.size()) return {};
  if (!capped_) kept_ = all_;
  capped_ = true;
  all_.update(bytes.subspan(room));
  return {};
}

Captured CaptureWriter::so_far() const {
  const std::uint64_t hash = all_.digest();
  return {.size = size_,
          .hash = hash,
          .stored = stored_,
          .stored_hash = capped_ ? kept_.digest() : hash};
}

Result<Captured> CaptureWriter::finish() {
  CLEW_CHECK_OK(file_.close());
  return so_far();
}

}  // namespace clew
