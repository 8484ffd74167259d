#include "host/translate/instruction.h"

namespace clew {

int number_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return kNoRegister;
  return ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
}

bool is_memory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

bool reads(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}
bool writes(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

bool is_repeated(const ZydisDecodedInstruction& code) {
  return (code.attributes &
          (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0 &&
         code.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

bool is_counted_branch(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
      return true;
    default:
      return false;
  }
}

bool ends_block(const ZydisDecodedInstruction& code) {
  switch (code.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT:
      return true;
    default:
      return code.mnemonic == ZYDIS_MNEMONIC_UD2 || code.mnemonic == ZYDIS_MNEMONIC_HLT;
  }
}

bool is_foreign(const ZydisDecodedInstruction& code) {
  switch (code.mnemonic) {
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
      return true;
    default:
      return code.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  }
}

bool only_names_memory(const ZydisDecodedInstruction& code) {
  switch (code.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLDEMOTE:
      return true;
    default:
      return code.mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
  }
}

bool is_masked(const ZydisDecodedInstruction& code) {
  switch (code.mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
      return true;
    default:
      return code.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
             code.avx.mask.reg != ZYDIS_REGISTER_NONE && code.avx.mask.reg != ZYDIS_REGISTER_K0;
  }
}

bool is_hidden_stack(const ZydisDecodedOperand& operand) {
  return operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
         operand.mem.base == ZYDIS_REGISTER_RSP;
}

bool is_call(const ZydisDecodedInstruction& code) {
  return code.meta.category == ZYDIS_CATEGORY_CALL;
}

bool jumps_by_slot(const Decoded& code) {
  return code.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR &&
         is_memory(code.operands[0]) && code.operands[0].mem.base == ZYDIS_REGISTER_RIP;
}

bool may_jump_to_function(const Decoded& code) {
  constexpr std::uint64_t kAlignment = 16;
  constexpr unsigned kLongJump = 5;  // bytes
  if (code.instruction.meta.category != ZYDIS_CATEGORY_UNCOND_BR ||
      code.instruction.length < kLongJump || code.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
    return false;
  std::uint64_t target = 0;
  ZydisCalcAbsoluteAddress(&code.instruction, &code.operands[0], code.address, &target);
  return target % kAlignment == 0;
}

std::optional<Written> written_before(const Decoded& code, std::uint32_t size) {
  const ZydisDecodedOperand* from = nullptr;
  if (code.instruction.mnemonic == ZYDIS_MNEMONIC_MOV)
    from = &code.operands[1];
  else if (code.instruction.mnemonic == ZYDIS_MNEMONIC_PUSH)
    from = &code.operands[0];
  if (from == nullptr) return std::nullopt;
  if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && size <= 8) {
    const std::uint64_t value = from->imm.value.u;
    const unsigned unused = 64 - 8 * size;
    return Written{kNoRegister, value << unused >> unused};
  }
  if (from->type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  const auto kind = ZydisRegisterGetClass(from->reg.value);
  if ((size == 8 && kind == ZYDIS_REGCLASS_GPR64) || (size == 4 && kind == ZYDIS_REGCLASS_GPR32))
    return Written{number_of(from->reg.value), 0};
  return std::nullopt;
}

}  // namespace clew
