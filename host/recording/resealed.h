// Takes a schedule file apart at its checksums and puts it together with new ones, so
// that damage reaches the code behind them. Only tests and fuzzers include this.
#ifndef CLEW_HOST_RECORDING_RESEALED_H_
#define CLEW_HOST_RECORDING_RESEALED_H_

#include <cstdint>
#include <span>
#include <vector>

#include "host/recording/content_hash.h"
#include "host/recording/schedule_format.h"

namespace clew {

using SealedParts = std::vector<std::vector<std::uint8_t>>;  // header, blocks, trailer

// REQUIRES: a valid file. A part ends where its own hash follows.
inline SealedParts split_sealed(std::span<const std::uint8_t> bytes) {
  SealedParts parts;
  std::size_t start = 0;
  for (std::size_t end = 1; end + schedule_format::kChecksumSize <= bytes.size(); ++end) {
    std::uint64_t stated = 0;
    for (std::size_t i = 0; i < schedule_format::kChecksumSize; ++i)
      stated |= std::uint64_t{bytes[end + i]} << 8 * i;
    const auto part = bytes.subspan(start, end - start);
    if (content_hash(part) != stated) continue;
    parts.emplace_back(part.begin(), part.end());
    start = end + schedule_format::kChecksumSize;
    end = start;
  }
  return parts;
}

inline std::vector<std::uint8_t> join_sealed(const SealedParts& parts) {
  std::vector<std::uint8_t> bytes;
  for (const auto& part : parts) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    const std::uint64_t hash = content_hash(part);
    for (std::size_t i = 0; i < schedule_format::kChecksumSize; ++i)
      bytes.push_back(static_cast<std::uint8_t>(hash >> 8 * i));
  }
  return bytes;
}

}  // namespace clew

#endif  // CLEW_HOST_RECORDING_RESEALED_H_
