// What went through one of the program's standard streams, kept in a recording.
#ifndef CLEW_HOST_RECORDING_CAPTURE_H_
#define CLEW_HOST_RECORDING_CAPTURE_H_

#include <cstdint>
#include <filesystem>
#include <span>

#include "host/error.h"
#include "host/recording/content_hash.h"
#include "host/recording/file.h"

namespace clew {

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;
// Of a run's standard output and error each.
inline constexpr std::uint64_t kMaxStoredOutput = std::uint64_t{64} << 20;

struct Captured {
  std::uint64_t size = 0;                  // all bytes
  std::uint64_t hash = kEmptyContentHash;  // XXH3 of all bytes
  std::uint64_t stored = 0;                // this many, from the beginning, are in the file
  std::uint64_t stored_hash = kEmptyContentHash;
  bool operator==(const Captured&) const = default;
};

// Hashes everything, stores the first `cap` bytes.
class CaptureWriter {
 public:
  // Creates the file. REQUIRES: there is none of this name.
  [[nodiscard]] static Result<CaptureWriter> create(const std::filesystem::path& path,
                                                    std::uint64_t cap);

  [[nodiscard]] Result<void> append(std::span<const std::uint8_t> bytes);
  [[nodiscard]] Captured so_far() const;
  // Closes. No append() after this.
  [[nodiscard]] Result<Captured> finish();

 private:
  CaptureWriter(OutputFile file, std::uint64_t cap) : file_(std::move(file)), cap_(cap) {}

  OutputFile file_;
  std::uint64_t cap_;
  std::uint64_t size_ = 0;
  std::uint64_t stored_ = 0;
  ContentHasher all_;
  ContentHasher kept_;  // unused until the cap is reached: the same as all_ before
  bool capped_ = false;
};

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_CAPTURE_H_
