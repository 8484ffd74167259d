// The registers of a frame, as far as they are known.
#ifndef CLEW_HOST_NAMES_REGISTERS_H_
#define CLEW_HOST_NAMES_REGISTERS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "host/names/machine.h"

namespace clew {

struct Registers {
  std::uint64_t pc = 0;
  std::array<std::optional<std::uint64_t>, kDwarfRegisters> values;  // by DWARF's numbers

  std::optional<std::uint64_t> operator[](unsigned number) const {
    return number < values.size() ? values[number] : std::nullopt;
  }
};

}  // namespace clew

#endif  // CLEW_HOST_NAMES_REGISTERS_H_
