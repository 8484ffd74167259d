// The layout that writer and reader of the file `schedule` share; the document is
// docs/recording-format.md. All numbers of fixed size are little endian.
#ifndef CLEW_HOST_RECORDING_SCHEDULE_FORMAT_H_
#define CLEW_HOST_RECORDING_SCHEDULE_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clew::schedule_format {

inline constexpr std::array<std::uint8_t, 8> kMagic{'c', 'l', 'e', 'w', 's', 'c', 'h', '\0'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kHeaderSize = 24;  // magic, u32 version, u32 abi version, u64 XXH3
inline constexpr std::size_t kChecksumSize = 8;

inline constexpr std::uint8_t kBlockTag = 'B';
inline constexpr std::uint8_t kTrailerTag = 'E';

inline constexpr std::size_t kMaxBlockEntries = 65'536;

// The columns of a block, one byte an element. Numbers are split into planes, lowest
// byte first: the high planes of clock deltas are almost always zero and vanish.
inline constexpr std::size_t kKindColumn = 0;
inline constexpr std::size_t kClockColumn = 1;                  // every entry
inline constexpr std::size_t kThreadColumn = kClockColumn + 8;  // kSwitchTo and kCheck
inline constexpr std::size_t kPlaceColumn = kThreadColumn + 8;  // kCheck
inline constexpr std::size_t kHashColumn = kPlaceColumn + 8;    // kCheck
inline constexpr std::size_t kColumns = kHashColumn + 2;
static_assert(kColumns <= 32, "a block says in a u32 which columns it has");

using Column = std::vector<std::uint8_t>;
using Columns = std::array<Column, kColumns>;

}  // namespace clew::schedule_format

#endif  // CLEW_HOST_RECORDING_SCHEDULE_FORMAT_H_
