// What a machine instruction does, as far as dependences are concerned: which registers it reads and
// writes, which of them only make addresses, and where it leads.
#ifndef CLEW_HOST_MODEL_INSTRUCTION_H_
#define CLEW_HOST_MODEL_INSTRUCTION_H_

#include <cstdint>
#include <span>
#include <vector>

namespace clew {

// A bit for each: rax to r15 as instructions number them, then vector registers, then the rest. The
// stack pointer is not among them: what it holds depends on nothing that matters.
using RegisterSet = std::uint64_t;
inline constexpr int kGeneralRegisters = 16;
inline constexpr int kVectorRegisters = 16;  // the first
inline constexpr int kFlagsRegister = 48;
inline constexpr int kMaskRegisters = 49;
inline constexpr int kFloatRegisters = 57;  // x87 and MMX, all together
inline constexpr int kRegisterSetSize = 58;
inline constexpr RegisterSet bit_of(int reg) { return RegisterSet{1} << reg; }

inline constexpr int kRax = 0;
inline constexpr int kRsp = 4;
// What a function gives back as it found it: rbx, rbp, r12 to r15.
inline constexpr RegisterSet kPreserved =
    bit_of(3) | bit_of(5) | bit_of(12) | bit_of(13) | bit_of(14) | bit_of(15);

enum class Flow : std::uint8_t {
  kNext,
  kBranch,  // to `target`, or on
  kJump,
  kIndirectJump,
  kCall,
  kIndirectCall,
  kReturn,
  kStop,
};

// Of a repeated string instruction.
struct StringUse {
  bool reads = false;         // at rsi
  bool reads_second = false;  // at rdi
  bool writes = false;        // at rdi
  std::uint8_t element = 0;   // bytes
};

struct Instruction {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  Flow flow = Flow::kNext;
  bool copies = false;       // the result is an operand, unchanged: mov, push, pop
  std::uint64_t target = 0;  // of a direct branch or call
  std::uint64_t slot = 0;    // the address of a memory operand that is given relative to the code
  // Of its memory operand (or the address that lea computes), if there is one that a register makes the
  // address of: the register and what is added to it; -1: none, or an index is added, too.
  int base = -1;
  std::int64_t displacement = 0;
  RegisterSet reads = 0;
  RegisterSet address_reads = 0;
  RegisterSet writes = 0;
  StringUse string;

  [[nodiscard]] std::uint64_t next() const { return address + length; }
  [[nodiscard]] bool is_call() const { return flow == Flow::kCall || flow == Flow::kIndirectCall; }
};

// The first instruction of `code`, which is at `address`. False: there is none.
[[nodiscard]] bool decode(std::uint64_t address, std::span<const std::uint8_t> code,
                          Instruction& instruction);

}  // namespace clew

#endif  // CLEW_HOST_MODEL_INSTRUCTION_H_
