// What is known of a thread of the program where it stands. Nothing in it can be relied on: the
// program may have written anything anywhere.
#ifndef CLEW_HOST_NAMES_MACHINE_H_
#define CLEW_HOST_NAMES_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace clew {

// Whether all of it could be read.
using ReadMemory = std::function<bool(std::uint64_t address, std::span<std::uint8_t> into)>;

// Registers have the numbers that DWARF gives them on x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi,
// 5 rdi, 6 rbp, 7 rsp, 8 to 15 r8 to r15, 16 the return address, 17 to 32 xmm0 to xmm15.
inline constexpr unsigned kFrameRegister = 6;
inline constexpr unsigned kStackRegister = 7;
inline constexpr unsigned kReturnRegister = 16;
inline constexpr unsigned kDwarfRegisters = 33;

// The number that DWARF gives to a register which instructions give this one: 0 rax, 1 rcx, 2 rdx,
// 3 rbx, 4 rsp, 5 rbp, 6 rsi, 7 rdi, 8 to 15 r8 to r15; then 16 to 31 xmm0 to xmm15.
constexpr unsigned dwarf_register(unsigned encoded) {
  constexpr unsigned kFirst[] = {0, 2, 1, 3, 7, 6, 4, 5};
  if (encoded < 8) return kFirst[encoded];
  return encoded < 16 ? encoded : encoded + 1;
}

// Nothing: not known. Of xmm registers the lower half.
using ReadRegister = std::function<std::optional<std::uint64_t>(unsigned number)>;

// A frame of a thread, and the module that its code belongs to. What is left out is not known.
struct Machine {
  std::uint64_t bias = 0;            // where the module lies, less where it was linked to lie
  ReadRegister reg;                  // empty: none is known
  ReadMemory read;                   // empty: no memory is known
  std::optional<std::uint64_t> cfa;  // otherwise found by the registers
  std::optional<std::uint64_t> thread_local_block;  // the thread's, of this module

  std::optional<std::uint64_t> register_value(unsigned number) const {
    return reg ? reg(number) : std::nullopt;
  }
  // `size` bytes as a number, 1 to 8.
  std::optional<std::uint64_t> number_at(std::uint64_t address, std::size_t size) const {
    std::uint64_t value = 0;
    if (!read || size == 0 || size > sizeof value) return std::nullopt;
    std::uint8_t bytes[sizeof value] = {};
    if (!read(address, std::span(bytes).first(size))) return std::nullopt;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
    return value;
  }
};

// Where a variable is.
struct Whereabouts {
  enum class Kind : std::uint8_t {
    kGone,      // optimised out, here or everywhere
    kUnknown,   // in a register or memory that is not known
    kMemory,    // at `address`
    kRegister,  // in `reg`
    kValue,     // nowhere; its value is in `bytes`
  };
  Kind kind = Kind::kGone;
  std::uint64_t address = 0;
  unsigned reg = 0;
  std::vector<std::uint8_t> bytes = {};
  // Of an object in pieces of which one is in memory: where the object as a whole has its place, be
  // it up to date there or not.
  std::optional<std::uint64_t> home = std::nullopt;
};

}  // namespace clew

#endif  // CLEW_HOST_NAMES_MACHINE_H_
