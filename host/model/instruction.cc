#include "host/model/instruction.h"

#include <Zydis/Zydis.h>

#include <bit>

namespace clew {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder made = [] {
    ZydisDecoder one;
    ZydisDecoderInit(&one, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return one;
  }();
  return made;
}

RegisterSet set_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return 0;
  switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64: {
      const auto whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
      const int number = ZydisRegisterGetId(whole);
      return number == kRsp ? 0 : bit_of(number);
    }
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
      return bit_of(kVectorRegisters + ZydisRegisterGetId(reg));
    case ZYDIS_REGCLASS_FLAGS:
      return bit_of(kFlagsRegister);
    case ZYDIS_REGCLASS_MASK:
      return bit_of(kMaskRegisters + ZydisRegisterGetId(reg));
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
      return bit_of(kFloatRegisters);
    default:
      return 0;
  }
}

bool is_part(ZydisRegister reg) {
  const auto kind = ZydisRegisterGetClass(reg);
  return kind == ZYDIS_REGCLASS_GPR8 || kind == ZYDIS_REGCLASS_GPR16;
}

// xor eax, eax and the like: the result does not depend on the register.
bool clears(const ZydisDecodedInstruction& code, const ZydisDecodedOperand* operands) {
  switch (code.mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
      return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             operands[0].reg.value == operands[1].reg.value;
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD:
      return operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             operands[2].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             operands[1].reg.value == operands[2].reg.value;
    default:
      return false;
  }
}

bool is_copy(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVD:
    case ZYDIS_MNEMONIC_MOVQ:
    case ZYDIS_MNEMONIC_MOVSS:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVDQA:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_XCHG:
      return true;
    default:
      return false;
  }
}

Flow flow_of(const ZydisDecodedInstruction& code, const ZydisDecodedOperand* operands) {
  const bool direct = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (code.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return direct ? Flow::kCall : Flow::kIndirectCall;
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::kBranch;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return direct ? Flow::kJump : Flow::kIndirectJump;
    case ZYDIS_CATEGORY_RET:
      return Flow::kReturn;
    default:
      return code.mnemonic == ZYDIS_MNEMONIC_UD2 || code.mnemonic == ZYDIS_MNEMONIC_HLT
                 ? Flow::kStop
                 : Flow::kNext;
  }
}

StringUse string_use(const ZydisDecodedInstruction& code) {
  const auto element = static_cast<std::uint8_t>(code.operand_width / 8);
  switch (code.mnemonic) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
      return {.reads = true, .reads_second = false, .writes = true, .element = element};
    case ZYDIS_MNEMONIC_STOSB:
    case ZYDIS_MNEMONIC_STOSW:
    case ZYDIS_MNEMONIC_STOSD:
    case ZYDIS_MNEMONIC_STOSQ:
      return {.reads = false, .reads_second = false, .writes = true, .element = element};
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
      return {.reads = true, .reads_second = true, .writes = false, .element = element};
    case ZYDIS_MNEMONIC_SCASB:
    case ZYDIS_MNEMONIC_SCASW:
    case ZYDIS_MNEMONIC_SCASD:
    case ZYDIS_MNEMONIC_SCASQ:
      return {.reads = false, .reads_second = true, .writes = false, .element = element};
    default:
      return {};
  }
}

}  // namespace

bool decode(std::uint64_t address, std::span<const std::uint8_t> code, Instruction& instruction) {
  ZydisDecodedInstruction found;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), code.data(), code.size(), &found, operands)))
    return false;
  instruction = {};
  instruction.address = address;
  instruction.length = found.length;
  instruction.flow = flow_of(found, operands);
  instruction.copies = is_copy(found.mnemonic);
  instruction.string = string_use(found);
  if (instruction.flow != Flow::kNext && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
      instruction.flow != Flow::kReturn)
    ZydisCalcAbsoluteAddress(&found, &operands[0], address, &instruction.target);
  const bool cleared = clears(found, operands);
  for (int i = 0; i < found.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      RegisterSet& to =
          operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN ? instruction.reads : instruction.address_reads;
      to |= set_of(operand.mem.base) | set_of(operand.mem.index);
      const RegisterSet base = set_of(operand.mem.base);
      if (base != 0 && operand.mem.index == ZYDIS_REGISTER_NONE) {
        instruction.base = std::countr_zero(base);
        instruction.displacement = operand.mem.disp.value;
      }
      if (operand.mem.base == ZYDIS_REGISTER_RIP)
        ZydisCalcAbsoluteAddress(&found, &operand, address, &instruction.slot);
      continue;
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const RegisterSet reg = set_of(operand.reg.value);
    const auto actions = operand.actions;
    if ((actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) {
      instruction.writes |= reg;
      // What it leaves of the register is as before.
      if (is_part(operand.reg.value) || (actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0)
        instruction.reads |= reg;
    }
    if ((actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 && !cleared) instruction.reads |= reg;
  }
  // A flag that is only set is no result that anyone asks for.
  if (found.mnemonic == ZYDIS_MNEMONIC_CALL) instruction.writes = 0;
  return true;
}

}  // namespace clew
