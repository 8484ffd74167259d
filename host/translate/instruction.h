// One instruction of the program as Zydis decodes it, and what its translation needs to know of it.
#ifndef CLEW_HOST_TRANSLATE_INSTRUCTION_H_
#define CLEW_HOST_TRANSLATE_INSTRUCTION_H_

#include <Zydis/Zydis.h>

#include <cstdint>
#include <optional>
#include <span>

#include "host/translate/emitter.h"

namespace clew {

struct Decoded {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  std::uint64_t address = 0;
  std::span<const std::uint8_t> bytes;

  [[nodiscard]] std::span<const ZydisDecodedOperand> all() const {
    return {operands, instruction.operand_count};
  }
  [[nodiscard]] std::uint64_t next() const { return address + instruction.length; }
  // Of an operand that is given relative to the instruction.
  [[nodiscard]] std::uint64_t absolute(const ZydisDecodedOperand& operand) const {
    return next() + static_cast<std::uint64_t>(operand.mem.disp.value);
  }
};

// As the emitter counts registers; kNoRegister: none.
int number_of(ZydisRegister reg);

bool is_memory(const ZydisDecodedOperand& operand);
bool reads(const ZydisDecodedOperand& operand);
bool writes(const ZydisDecodedOperand& operand);
// What push, pop and the like do with the stack.
bool is_hidden_stack(const ZydisDecodedOperand& operand);

bool is_call(const ZydisDecodedInstruction& code);
// `rep movsb` and the like.
bool is_repeated(const ZydisDecodedInstruction& code);
// `jrcxz`, `loop`: they reach 127 bytes only.
bool is_counted_branch(ZydisMnemonic mnemonic);
bool ends_block(const ZydisDecodedInstruction& code);
// Transactions, far branches: they run as the program's own code.
bool is_foreign(const ZydisDecodedInstruction& code);
// Names memory, but does not touch it.
bool only_names_memory(const ZydisDecodedInstruction& code);
// Touches only some of the memory that it names: the rest need not be there.
bool is_masked(const ZydisDecodedInstruction& code);

// A jump to a function of a library, as its address was bound: a stub, or a call at a function's end.
bool jumps_by_slot(const Decoded& code);
// A jump to the beginning of a function as compilers align them, as far as can be told by the jump alone: a call at a function's end.
bool may_jump_to_function(const Decoded& code);

// What an instruction is about to write, if that is known before it: a register's value or a constant.
struct Written {
  int reg = kNoRegister;  // then `constant`
  std::uint64_t constant = 0;
};
// Of a write of `size` bytes.
std::optional<Written> written_before(const Decoded& code, std::uint32_t size);

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_INSTRUCTION_H_
