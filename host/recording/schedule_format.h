// The layout that writer and reader of the file `schedule` share; the document is
// docs/recording-format.md. All numbers of fixed size are little endian.
#ifndef CLEW_HOST_RECORDING_SCHEDULE_FORMAT_H_
#define CLEW_HOST_RECORDING_SCHEDULE_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clew_abi/stream.h"

namespace clew::schedule_format {

inline constexpr std::array<std::uint8_t, 8> kMagic{'c', 'l', 'e', 'w', 's', 'c', 'h', '\0'};
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kHeaderSize = 24;  // magic, u32 version, u32 abi version, u64 XXH3
inline constexpr std::size_t kChecksumSize = 8;

inline constexpr std::uint8_t kBlockTag = 'B';
inline constexpr std::uint8_t kTrailerTag = 'E';

inline constexpr std::size_t kMaxBlockEntries = 65'536;

// The columns of a block, with one byte per element. Numbers are split into planes, lowest
// byte first: the high planes of clock deltas are almost always zero and vanish.
inline constexpr std::size_t kKindColumn = 0;                   // KindByte
inline constexpr std::size_t kClockColumn = 1;                  // every entry
inline constexpr std::size_t kThreadColumn = kClockColumn + 8;  // KindByte::has_thread
inline constexpr std::size_t kPlaceColumn = kThreadColumn + 8;  // kCheck
inline constexpr std::size_t kHashColumn = kPlaceColumn + 8;    // kCheck
inline constexpr std::size_t kOrdinalColumn = kHashColumn + 2;  // kChoice
inline constexpr std::size_t kColumns = kOrdinalColumn + 8;
static_assert(kColumns <= 63, "a block says in a varint which columns it has");

// Column 0: the kind of entry, and in the bits above it that of the choice.
struct KindByte {
  std::uint8_t byte = 0;

  KindByte() = default;
  explicit constexpr KindByte(std::uint8_t stored) : byte(stored) {}
  constexpr KindByte(abi::EntryKind kind, abi::ChoiceKind choice)
      : byte(static_cast<std::uint8_t>(static_cast<unsigned>(kind) | static_cast<unsigned>(choice)
                                                                         << abi::kKindBits)) {}

  constexpr abi::EntryKind kind() const {
    return static_cast<abi::EntryKind>(byte & ((1u << abi::kKindBits) - 1));
  }
  constexpr abi::ChoiceKind choice() const {
    return static_cast<abi::ChoiceKind>(byte >> abi::kKindBits);
  }
  // Whether a file may contain such an entry. The bits of the choice are 0 unless it is one.
  constexpr bool valid() const {
    if (kind() == abi::EntryKind::kChoice) return choice() < abi::ChoiceKind::kCount;
    return byte <= static_cast<std::uint8_t>(abi::EntryKind::kCheck);
  }
  // Whether it has an element in the columns of threads. Choices that name no thread have the value
  // 1, which is not stored.
  constexpr bool has_thread() const {
    return kind() == abi::EntryKind::kChoice ? abi::names_thread(choice())
                                             : kind() != abi::EntryKind::kSwitchNext;
  }
};
static_assert(static_cast<unsigned>(abi::ChoiceKind::kCount) <= 0x100u >> abi::kKindBits,
              "kinds of choices must fit beside the kind of entry");

using Column = std::vector<std::uint8_t>;
using Columns = std::array<Column, kColumns>;

}  // namespace clew::schedule_format

#endif  // CLEW_HOST_RECORDING_SCHEDULE_FORMAT_H_
