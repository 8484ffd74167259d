// The registers as gdb knows them: their description, and their bytes.
#ifndef CLEW_HOST_DEBUG_GDB_REGISTERS_H_
#define CLEW_HOST_DEBUG_GDB_REGISTERS_H_

#include <sys/user.h>

#include <cstdint>
#include <span>
#include <string>

#include "clew_abi/debug.h"

namespace clew::debug {

struct Registers {
  user_regs_struct general;
  user_fpregs_struct floating;
};

// The `target.xml` that names the registers in the order of the packets.
std::string describe_registers();
// All of them in hexadecimal.
std::string pack(const Registers& registers);
// Of a thread that is parked: most are not known, and 'x'.
std::string pack(const abi::DebugThread& thread);
// False: too few bytes.
bool unpack(std::span<const std::uint8_t> bytes, Registers& registers);
// In the packed form, where register `number` is.
struct Slice {
  std::size_t begin, size;
};
Slice slice_of(std::size_t number);

}  // namespace clew::debug

#endif  // CLEW_HOST_DEBUG_GDB_REGISTERS_H_
