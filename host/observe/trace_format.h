// The layout of trace files (docs/trace-file.md). Numbers are little-endian.
#ifndef CLEW_HOST_OBSERVE_TRACE_FORMAT_H_
#define CLEW_HOST_OBSERVE_TRACE_FORMAT_H_

#include <array>
#include <cstdint>

namespace clew::trace_format {

inline constexpr std::uint32_t kVersion = 3;
inline constexpr std::array<char, 8> kMagic{'c', 'l', 'e', 'w', 't', 'r', 'c', '\n'};
inline constexpr std::array<char, 8> kEndMagic{'c', 'l', 'e', 'w', 'e', 'n', 'd', '\n'};

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t unused = 0;
};

enum Kind : std::uint32_t { kBlocks = 1, kRecords = 2, kIndex = 3, kInfo = 4 };

// Before each section's bytes, which are one zstd frame.
struct SectionHead {
  std::uint32_t kind = 0;
  std::uint32_t stored = 0;
  std::uint32_t raw = 0;
  std::uint32_t expanded = 0;  // kRecords: what they stand for, in bytes
  std::uint64_t hash = 0;      // XXH3 of what is stored
};

// What the index has, one for each section of blocks or records, in their order.
struct IndexEntry {
  std::uint64_t offset = 0;
  std::uint32_t kind = 0;
  std::uint32_t expanded = 0;
  std::uint64_t first = 0;  // clock
  std::uint64_t last = 0;
};

struct Trailer {
  std::uint64_t index = 0;  // offsets
  std::uint64_t info = 0;
  std::uint64_t hash = 0;  // of the two
  std::array<char, 8> magic = kEndMagic;
};

static_assert(sizeof(Header) == 16 && sizeof(SectionHead) == 24 && sizeof(IndexEntry) == 32 &&
              sizeof(Trailer) == 32);

// A section of records is ended by the block that makes what it stands for larger than this.
inline constexpr std::uint32_t kRecordsSize = 16u << 20;
// No section is larger than these before compression. A record takes at most a fourth more than it stands
// for.
inline constexpr std::uint32_t kMostExpanded = 17u << 20;
inline constexpr std::uint32_t kMostRecords = 24u << 20;
inline constexpr std::uint32_t kMostBlockBytes = 256u << 20;
inline constexpr std::uint32_t kMostIndex = 256u << 20;
inline constexpr std::uint32_t kMostInfo = 64u << 20;

}  // namespace clew::trace_format

#endif  // CLEW_HOST_OBSERVE_TRACE_FORMAT_H_
