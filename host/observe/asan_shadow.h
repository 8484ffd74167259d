// AddressSanitizer keeps, for each eight bytes of memory, one that says whether they may be accessed; programs built with it look there
// before they access anything. On x86-64 Linux it lies at a fixed address (clang's default mapping).
#ifndef CLEW_HOST_OBSERVE_ASAN_SHADOW_H_
#define CLEW_HOST_OBSERVE_ASAN_SHADOW_H_

#include <cstdint>
#include <optional>

namespace clew {

inline constexpr std::uint64_t kAsanShadow = 0x7fff8000;
inline constexpr std::uint64_t kAsanShadowEnd = 0x10007fff8000;

// What it holds for memory that may not be accessed any more.
inline constexpr std::uint8_t kAsanFrameEnded = 0xf5;
inline constexpr std::uint8_t kAsanScopeEnded = 0xf8;

// The first of the eight bytes that it is about. Nothing: the address is none of that memory.
inline std::optional<std::uint64_t> asan_shadowed(std::uint64_t address) {
  if (address < kAsanShadow || address >= kAsanShadowEnd) return std::nullopt;
  return (address - kAsanShadow) << 3;
}

}  // namespace clew

#endif  // CLEW_HOST_OBSERVE_ASAN_SHADOW_H_
