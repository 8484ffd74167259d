#include "host/translate/translator.h"

#include <algorithm>
#include <array>

#include "host/translate/instruction.h"
#include "host/translate/slots.h"

namespace clew {
namespace {

using abi::TargetTable;
using namespace slots;

constexpr std::size_t kMostInstructions = 64;
constexpr std::size_t kMostAhead = 256;      // chosen: more than most functions have exits
constexpr std::size_t kLeastRoom = 0x10000;  // more than any block needs
constexpr std::uint32_t kLargestValue = 64;

std::uint32_t words_of(std::uint32_t size) { return (size + 7) / 8 * 8; }

// A value that is read by the instruction alone can be read before it: all threads run on one processor,
// and nobody else writes in between. Then it is read together with the address.
bool is_read_before(const RecordedAccess& access) {
  return access.kind == AccessKind::kRead && access.has_value &&
         (access.size == 1 || access.size == 2 || access.size == 4 || access.size == 8);
}

// What is noted before the instruction, since it is known then.
std::optional<Written> written_before(const Decoded& code, const RecordedAccess& access) {
  if (access.kind != AccessKind::kWrite || !access.has_value) return std::nullopt;
  return written_before(code, access.size);
}

}  // namespace

struct Translator::Plan {
  TranslatedBlock block;
  std::vector<const ZydisDecodedOperand*> operands;  // of each access; null: a string instruction's

  // Of a block's record, seen from where the next one begins.
  Operand place(std::uint32_t offset) const {
    return {.base = 0,
            .displacement =
                static_cast<std::int32_t>(offset) - static_cast<std::int32_t>(block.record_size)};
  }
};

Translator::Translator(std::span<std::uint8_t> memory, TraceDetail detail)
    : memory_(memory),
      detail_(detail),
      emitter_(memory.subspan(abi::kCodeOffset, abi::kCodeSize),
               abi::kTranslationAddress + abi::kCodeOffset) {
  begin();
}

Translator::Translator(std::span<std::uint8_t> memory, OwnCode& map, CallDetail detail)
    : memory_(memory),
      detail_(TraceDetail::kAccesses),
      emitter_(memory.subspan(abi::kCodeOffset, abi::kCodeSize),
               abi::kTranslationAddress + abi::kCodeOffset),
      counting_(std::make_unique<CountingCode>(emitter_, map, detail)) {
  state().counts = 1;
  begin();
}

void Translator::begin() {
  ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  blocks_.emplace_back();  // 0 is no block
  exits_.emplace_back();
  auto* targets = reinterpret_cast<abi::Target*>(memory_.data() + abi::kTargetsOffset);
  const std::size_t tables = counting_ ? abi::kTargetTables : 1;
  for (std::size_t i = 0; i < tables * abi::kTargetCount; ++i)
    targets[i] = {.inverse = 1, .code = 0};
  state().buffer = abi::kBufferEnd - abi::kBufferSize;
  state().request = abi::TranslationRequest::kBlock;
  emit_routines();
}

// The target is in rax; rax and rcx are saved.
std::uint64_t Translator::emit_lookup(TargetTable table) {
  Emitter& e = emitter_;
  const std::uint64_t start = e.here();
  e.store(kTarget, Reg::kRax);
  e.store(kSaved2, Reg::kRdx);
  e.bytes(std::array<std::uint8_t, 3>{0x0f, 0xb7, 0xc8});  // movzx ecx, ax
  e.lea(Reg::kRcx, {.base = 1, .index = 1});
  e.lea_slot(Reg::kRdx,
             slot(abi::kTargetsOffset + abi::kTargetsSize * static_cast<std::uint32_t>(table)));
  e.lea(Reg::kRdx, {.base = 2, .index = 1, .scale = 8});
  e.load_from(Reg::kRcx, {.base = 2}, 8);
  e.load_from(Reg::kRdx, {.base = 2, .displacement = 8}, 8);
  e.lea(Reg::kRcx, {.base = 1, .index = 0});
  e.skip_if_rcx_is_0(5);
  const Gap miss = e.jump();
  e.store(kJump, Reg::kRdx);
  e.load(Reg::kRax, kSaved0);
  e.load(Reg::kRcx, kSaved1);
  e.load(Reg::kRdx, kSaved2);
  e.jump_by(kJump);
  e.fill(miss, e.here());
  e.load(Reg::kRax, kSaved0);
  e.load(Reg::kRcx, kSaved1);
  e.load(Reg::kRdx, kSaved2);
  e.store_u32(kExit, abi::exit_of(table));
  e.jump_by(kAsk);
  return start;
}

void Translator::emit_routines() {
  Emitter& e = emitter_;
  for (std::uint32_t i = 0; i < (counting_ ? abi::kTargetTables : 1); ++i)
    lookups_[i] = emit_lookup(static_cast<TargetTable>(i));
  const TargetTable from_runtime = counting_ ? TargetTable::kFromLibrary : TargetTable::kPlain;
  state().enter = e.here();
  e.store(kSaved0, Reg::kRax);
  e.store(kSaved1, Reg::kRcx);
  e.load(Reg::kRax, kTarget);
  e.jump(lookups_[static_cast<std::uint32_t>(from_runtime)]);
}

std::uint64_t Translator::emit_native(std::uint64_t address) {
  const std::uint64_t code = emitter_.here();
  emitter_.jump_by(code + 6);
  emitter_.u64(address);
  return code;
}

std::uint64_t Translator::translate(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  const std::size_t first = exits_.size();
  const std::uint64_t code = translate_block(address, bytes);
  if (counting_) translate_ahead(first, address, bytes);
  return code;
}

// What the exits from this one on lead to, as far as the bytes go: a program that runs once would ask
// for little of it, but here each question costs two switches between processes, and many runs follow.
void Translator::translate_ahead(std::size_t first, std::uint64_t address,
                                 std::span<const std::uint8_t> bytes) {
  for (std::size_t i = first; i < exits_.size() && i < first + kMostAhead; ++i) {
    const auto [gap, target] = exits_[i];
    if (target < address || target + ZYDIS_MAX_INSTRUCTION_LENGTH > address + bytes.size())
      continue;
    const std::uint64_t code = translate_block(target, bytes.subspan(target - address));
    if (code == 0) return;
    emitter_.fill(gap, code);
  }
}

std::uint64_t Translator::translate_block(std::uint64_t address,
                                          std::span<const std::uint8_t> bytes) {
  if (const auto known = code_of_.find(address); known != code_of_.end()) return known->second;
  if (emitter_.left() < kLeastRoom) return 0;
  if (counting_) counting_->map().see(state().process, address);
  if (address >= state().native_begin && address < state().native_end)
    return code_of_[address] = emit_native(address);
  std::vector<Decoded> code;
  std::size_t at = 0;
  while (code.size() < kMostInstructions) {
    Decoded one;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, bytes.data() + at, bytes.size() - at,
                                             &one.instruction, one.operands)))
      break;
    if (is_foreign(one.instruction)) break;
    one.address = address + at;
    one.bytes = bytes.subspan(at, one.instruction.length);
    at += one.instruction.length;
    code.push_back(one);
    if (ends_block(one.instruction)) break;
  }
  // What cannot be read as code ends the program, or is the program's own business.
  if (code.empty()) return code_of_[address] = emit_native(address);
  return code_of_[address] = emit_block(code);
}

std::uint64_t Translator::emit_block(std::span<const Decoded> code) {
  Plan plan;
  TranslatedBlock& block = plan.block;
  block.address = code.front().address;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    const Decoded& one = code[i];
    block.instructions.push_back(static_cast<std::uint32_t>(one.address - block.address));
    block.size += one.instruction.length;
    block.code.insert(block.code.end(), one.bytes.begin(), one.bytes.end());
    if (counting_ || only_names_memory(one.instruction) ||
        one.instruction.meta.category == ZYDIS_CATEGORY_RET)
      continue;
    if (is_repeated(one.instruction)) {
      block.accesses.push_back({i, AccessKind::kString, 0, block.record_size, false});
      plan.operands.push_back(nullptr);
      block.record_size += 24;
      continue;
    }
    for (const ZydisDecodedOperand& operand : one.all()) {
      if (!is_memory(operand) || operand.mem.segment == ZYDIS_REGISTER_GS) continue;
      if (is_call(one.instruction) && is_hidden_stack(operand)) continue;
      const std::uint32_t size = operand.size / 8;
      const AccessKind kind = !writes(operand)  ? AccessKind::kRead
                              : !reads(operand) ? AccessKind::kWrite
                                                : AccessKind::kUpdate;
      const bool has_value = size > 0 && size <= kLargestValue && !is_masked(one.instruction);
      block.accesses.push_back({i, kind, size, block.record_size, has_value});
      plan.operands.push_back(&operand);
      block.record_size += 8 + (has_value ? words_of(size) : 0);
    }
  }
  if (detail_ == TraceDetail::kCalls) {
    if (return_sites_.contains(block.address)) {
      block.result_offset = block.record_size;
      block.record_size += 8;
    }
    if (is_call(code.back().instruction) || jumps_by_slot(code.back()) ||
        may_jump_to_function(code.back())) {
      block.call_offset = block.record_size;
      block.record_size += sizeof(CallRegisters);
    }
    if (is_call(code.back().instruction)) return_sites_.insert(code.back().next());
  }
  const std::uint64_t start = emitter_.here();
  if (!counting_) emit_head(block);
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    if (counting_) counting_->before_instruction(code[i].address);
    if (ends_block(code[i].instruction)) {
      emit_end(code[i], plan, i);
    } else {
      emit_plain(code[i], plan, i);
    }
  }
  if (!ends_block(code.back().instruction)) emit_exit(emitter_.jump(), code.back().next());
  if (!counting_) blocks_.push_back(std::move(block));
  return start;
}

void Translator::emit_head(const TranslatedBlock& block) {
  Emitter& e = emitter_;
  const std::uint64_t start = e.here();
  e.store(kSaved0, Reg::kRax);
  e.store(kSaved1, Reg::kRcx);
  e.load_byte(Reg::kRcx, kBuffer + 4);
  e.skip_if_rcx_is_0(5);
  const Gap room = e.jump();
  // Full: the host takes it, and the block begins anew.
  e.load(Reg::kRcx, kSaved1);
  e.store_u32(kRequest, static_cast<std::uint32_t>(abi::TranslationRequest::kDrain));
  e.store_u32(kJump, static_cast<std::uint32_t>(start));
  e.store_u32(kJump + 4, static_cast<std::uint32_t>(start >> 32));
  e.jump_by(kAsk);
  e.fill(room, e.here());
  e.load(Reg::kRax, kBuffer);
  e.store_u32_to({.base = 0}, static_cast<std::uint32_t>(blocks_.size()));
  e.lea(Reg::kRcx, {.base = 0, .displacement = static_cast<std::int32_t>(block.record_size)});
  e.store(kBuffer, Reg::kRcx);
  if (block.result_offset != 0) {
    e.load(Reg::kRcx, kSaved0);
    e.store_to({.base = 0, .displacement = static_cast<std::int32_t>(block.result_offset)},
               Reg::kRcx);
  }
  e.load(Reg::kRax, kSaved0);
  e.load(Reg::kRcx, kSaved1);
}

// To rcx; rax may be changed. Up to here both are as the program has them.
void Translator::emit_address(const Decoded& code, const ZydisDecodedOperand& operand) {
  Emitter& e = emitter_;
  const ZydisDecodedOperandMem& memory = operand.mem;
  if (memory.base == ZYDIS_REGISTER_RIP) {
    e.set(Reg::kRcx, code.absolute(operand));
  } else {
    Operand place{.base = number_of(memory.base),
                  .index = number_of(memory.index),
                  .scale = memory.scale == 0 ? 1 : memory.scale,
                  .displacement = static_cast<std::int32_t>(memory.disp.value)};
    if (code.instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE) {
      place = {.base = 5};
    } else if (is_hidden_stack(operand)) {
      place = {.base = 4, .displacement = writes(operand) ? -(operand.size / 8) : 0};
    }
    e.lea(Reg::kRcx, place);
  }
  if (memory.segment != ZYDIS_REGISTER_FS) return;
  e.load_thread(Reg::kRax);
  e.lea(Reg::kRcx, {.base = 1, .index = 0});
}

void Translator::emit_before(const Decoded& code, const Plan& plan, std::size_t access) {
  Emitter& e = emitter_;
  const RecordedAccess& of = plan.block.accesses[access];
  const std::uint32_t offset = of.offset;
  e.store(kSaved0, Reg::kRax);
  e.store(kSaved1, Reg::kRcx);
  if (const ZydisDecodedOperand* operand = plan.operands[access]) {
    emit_address(code, *operand);
    e.load(Reg::kRax, kBuffer);
    e.store_to(plan.place(offset), Reg::kRcx);
    if (is_read_before(of)) {
      // It may be a fault, which is the instruction's.
      note_origin(code.address, abi::kSavedRax | abi::kSavedRcx);
      e.load_from(Reg::kRcx, {.base = 1}, of.size);
      e.store_to(plan.place(offset + 8), Reg::kRcx);
    } else if (const auto written = written_before(code, of)) {
      emit_written(*written, plan, of);
    }
  } else {
    e.load(Reg::kRax, kBuffer);
    e.store_to(plan.place(offset), Reg::kRdi);
    e.store_to(plan.place(offset + 8), Reg::kRsi);
    e.store_to(plan.place(offset + 16), Reg::kRcx);
  }
  e.load(Reg::kRax, kSaved0);
  e.load(Reg::kRcx, kSaved1);
}

// REQUIRES: rax has the buffer's address, rax and rcx are saved. Changes rcx.
void Translator::emit_written(const Written& what, const Plan& plan, const RecordedAccess& of) {
  Emitter& e = emitter_;
  const std::uint32_t offset = of.offset + 8;
  if (what.reg == kNoRegister) {
    e.store_u32_to(plan.place(offset), static_cast<std::uint32_t>(what.constant));
    e.store_u32_to(plan.place(offset + 4), static_cast<std::uint32_t>(what.constant >> 32));
    return;
  }
  auto reg = static_cast<Reg>(what.reg);
  if (reg == Reg::kRax || reg == Reg::kRcx) {
    e.load(Reg::kRcx, reg == Reg::kRax ? kSaved0 : kSaved1);
    reg = Reg::kRcx;
  }
  if (of.size == 8) return e.store_to(plan.place(offset), reg);
  e.store_half_to(plan.place(offset), reg);
  e.store_u32_to(plan.place(offset + 4), 0);
}

void Translator::emit_after(const Decoded& code, const Plan& plan, std::size_t access) {
  const RecordedAccess& of = plan.block.accesses[access];
  if (!of.has_value || is_read_before(of) || written_before(code, of)) return;
  Emitter& e = emitter_;
  e.store(kSaved0, Reg::kRax);
  e.store(kSaved1, Reg::kRcx);
  e.load(Reg::kRax, kBuffer);
  std::uint32_t done = 0;
  while (done < of.size) {
    const std::uint32_t left = of.size - done;
    const unsigned part = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    e.load_from(Reg::kRcx, plan.place(of.offset), 8);
    e.load_from(Reg::kRcx, {.base = 1, .displacement = static_cast<std::int32_t>(done)}, part);
    // Later parts of a word overwrite what is 0 so far.
    e.store_to(plan.place(of.offset + 8 + done), Reg::kRcx);
    done += part;
  }
  e.load(Reg::kRax, kSaved0);
  e.load(Reg::kRcx, kSaved1);
}

void Translator::emit_plain(const Decoded& code, const Plan& plan, std::uint32_t number) {
  const auto of_this =
      std::ranges::equal_range(plan.block.accesses, number, {}, &RecordedAccess::instruction);
  const auto first = static_cast<std::size_t>(of_this.begin() - plan.block.accesses.begin());
  const std::size_t end = first + of_this.size();
  for (std::size_t i = first; i < end; ++i) emit_before(code, plan, i);
  emit_copy(code);
  for (std::size_t i = first; i < end; ++i) emit_after(code, plan, i);
}

// The instruction itself. What it gives relative to itself becomes absolute.
void Translator::emit_copy(const Decoded& code) {
  Emitter& e = emitter_;
  const ZydisDecodedInstruction& instruction = code.instruction;
  const auto relative = std::ranges::find_if(code.all(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
  });
  if (relative == code.all().end()) {
    note_origin(code.address);
    e.bytes(code.bytes);
    note_origin(code.next());
    return;
  }
  const std::uint64_t address = code.absolute(*relative);
  if (instruction.mnemonic == ZYDIS_MNEMONIC_LEA) {
    const auto to = static_cast<Reg>(number_of(code.operands[0].reg.value));
    e.set(to, instruction.operand_width == 64 ? address : address & UINT32_MAX);
    return;
  }
  // A register that the instruction does not use stands for the address.
  bool used[16] = {};
  used[4] = used[5] = true;
  for (const ZydisDecodedOperand& operand : code.all()) {
    const auto use = [&](ZydisRegister reg) {
      if (ZydisRegisterGetClass(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
                                                                 reg)) == ZYDIS_REGCLASS_GPR64)
        used[number_of(reg)] = true;
    };
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) use(operand.reg.value);
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    use(operand.mem.base);
    use(operand.mem.index);
  }
  const auto free = static_cast<unsigned>(std::ranges::find(used, false) - used);
  const auto base = static_cast<Reg>(free);
  e.store(kSavedBase, base);
  e.set(base, address);
  note_origin(code.address, abi::kSavedBase | free);
  const auto& raw = instruction.raw;
  for (unsigned i = 0; i < raw.modrm.offset; ++i) {
    unsigned value = code.bytes[i];
    if ((instruction.attributes & ZYDIS_ATTRIB_HAS_REX) != 0 && i == raw.rex.offset) value &= ~1u;
    if (instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && raw.vex.size == 3 &&
        i == raw.vex.offset + 1u)
      value |= 0x20;
    if (instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && i == raw.evex.offset + 1u)
      value |= 0x60;
    e.byte(value);
  }
  e.byte((code.bytes[raw.modrm.offset] & 0x38u) | free);
  e.bytes(code.bytes.subspan(raw.modrm.offset + 5u));
  e.load(base, kSavedBase);
  note_origin(code.next());
}

void Translator::emit_exit(Gap from, std::uint64_t target) {
  Emitter& e = emitter_;
  if (const auto known = code_of_.find(target); known != code_of_.end()) {
    e.fill(from, known->second);
    return;
  }
  const auto number = static_cast<std::uint32_t>(exits_.size());
  exits_.emplace_back(from, target);
  e.fill(from, e.here());
  e.store_u32(kExit, number);
  e.store_u32(kTarget, static_cast<std::uint32_t>(target));
  e.store_u32(kTarget + 4, static_cast<std::uint32_t>(target >> 32));
  e.jump_by(kAsk);
}

// A branch whose target is in a register or in memory, or a return.
void Translator::emit_indirect(const Decoded& code, const Plan& plan, std::uint32_t number) {
  Emitter& e = emitter_;
  const ZydisDecodedOperand& operand = code.operands[0];
  const bool calls = is_call(code.instruction);
  const bool returns = code.instruction.meta.category == ZYDIS_CATEGORY_RET;
  const bool relative =
      operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
  const std::uint64_t slot_of_target = relative ? code.absolute(operand) : 0;
  TargetTable table = TargetTable::kPlain;
  if (counting_) {
    table = returns ? counting_->table_of_return(code.address)
            : calls ? counting_->table_of_call(code.address)
                    : counting_->table_of_jump(code.address);
    if (calls) counting_->before_indirect_call(code.address, slot_of_target);
    if (!calls && !returns) counting_->indirect_jump(code.address);
    if (returns) counting_->before_return(code.address);
  }
  e.store(kSaved0, Reg::kRax);
  e.store(kSaved1, Reg::kRcx);
  if (returns) {
    note_origin(code.address);
    e.load_from(Reg::kRax, {.base = 4}, 8);
    const bool more = operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    e.lea(Reg::kRsp,
          {.base = 4,
           .displacement = 8 + (more ? static_cast<std::int32_t>(operand.imm.value.u) : 0)});
  } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    e.lea(Reg::kRax, {.base = number_of(operand.reg.value)});
  } else {
    emit_address(code, operand);
    note_origin(code.address, abi::kSavedRax | abi::kSavedRcx);
    e.load_from(Reg::kRax, {.base = 1}, 8);
    const auto access =
        std::ranges::find(plan.block.accesses, number, &RecordedAccess::instruction);
    if (access != plan.block.accesses.end()) {
      e.store(kTarget, Reg::kRax);
      e.load(Reg::kRax, kBuffer);
      e.store_to(plan.place(access->offset), Reg::kRcx);
      e.load(Reg::kRcx, kTarget);
      e.store_to(plan.place(access->offset + 8), Reg::kRcx);
      e.load(Reg::kRax, kTarget);
    }
  }
  if (calls && counting_) counting_->indirect_call(code.address, slot_of_target);
  if (calls) e.push(code.next());
  e.jump(lookups_[static_cast<std::uint32_t>(table)]);
}

// A jump to a known target that is under way from `from`.
void Translator::emit_direct(Gap from, std::uint64_t address, std::uint64_t target) {
  if (!counting_ || !counting_->counts_jump(address, target)) return emit_exit(from, target);
  emitter_.fill(from, emitter_.here());
  counting_->direct_jump(address, target);
  emit_exit(emitter_.jump(), target);
}

void Translator::emit_call_registers(const Plan& plan) {
  Emitter& e = emitter_;
  e.store(kSaved0, Reg::kRax);
  e.load(Reg::kRax, kBuffer);
  std::uint32_t offset = plan.block.call_offset;
  for (const Reg reg :
       {Reg::kRdi, Reg::kRsi, Reg::kRdx, Reg::kRcx, Reg::kR8, Reg::kR9, Reg::kRsp}) {
    e.store_to(plan.place(offset), reg);
    offset += 8;
  }
  e.load(Reg::kRax, kSaved0);
}

void Translator::emit_end(const Decoded& code, const Plan& plan, std::uint32_t number) {
  Emitter& e = emitter_;
  const ZydisDecodedInstruction& instruction = code.instruction;
  const auto category = instruction.meta.category;
  const bool branches = category == ZYDIS_CATEGORY_COND_BR ||
                        category == ZYDIS_CATEGORY_UNCOND_BR || is_call(instruction);
  if (!branches && category != ZYDIS_CATEGORY_RET) {
    // A system call, a trap.
    emit_plain(code, plan, number);
    emit_exit(e.jump(), code.next());
    return;
  }
  if (plan.block.call_offset != 0) emit_call_registers(plan);
  if (category == ZYDIS_CATEGORY_RET || code.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
    return emit_indirect(code, plan, number);
  std::uint64_t target = 0;
  ZydisCalcAbsoluteAddress(&instruction, &code.operands[0], code.address, &target);
  if (is_call(instruction)) {
    if (counting_) counting_->direct_call(code.address, target);
    note_origin(code.address);
    e.push(code.next());
    if (counting_) counting_->after_return_address(code.address, target);
    return emit_exit(e.jump(), target);
  }
  if (category == ZYDIS_CATEGORY_UNCOND_BR) return emit_direct(e.jump(), code.address, target);
  if (!is_counted_branch(instruction.mnemonic)) {
    const Gap taken = e.jump_if(instruction.opcode & 0xf);
    const Gap not_taken = e.jump();
    emit_direct(taken, code.address, target);
    return emit_exit(not_taken, code.next());
  }
  // These reach 127 bytes only.
  e.bytes(code.bytes.first(code.bytes.size() - 1));
  e.byte(5);
  const Gap not_taken = e.jump();
  const Gap taken = e.jump();
  emit_exit(taken, target);
  emit_exit(not_taken, code.next());
}

void Translator::connect(std::uint32_t exit, std::uint64_t code) {
  // The program may have overwritten the number.
  if (exit == 0 || exit >= exits_.size()) return;
  emitter_.fill(exits_[exit].first, code);
}

std::uint64_t Translator::enlist(TargetTable table, std::uint64_t address, std::uint64_t code) {
  if (counting_) code = counting_->found_in(table, address, code);
  const std::size_t offset =
      abi::kTargetsOffset + abi::kTargetsSize * static_cast<std::uint32_t>(table);
  auto* targets = reinterpret_cast<abi::Target*>(memory_.data() + offset);
  const abi::Target target{.inverse = 0 - address, .code = code};
  targets[address % abi::kTargetCount] = target;
  auto* all = reinterpret_cast<abi::Target*>(memory_.data() + abi::kAllTargetsOffset) +
              static_cast<std::uint32_t>(table) * abi::kAllTargetCount;
  for (std::size_t i = 0; i < abi::kTargetProbes; ++i) {
    abi::Target& here = all[(abi::slot_of(address) + i) % abi::kAllTargetCount];
    if (here.inverse != 0 && here.inverse != target.inverse) continue;
    here = target;
    break;
  }
  return code;
}

Translator::Origin Translator::origin(std::uint64_t code) const {
  const auto found = std::ranges::lower_bound(origins_, code, {}, &Origin::code);
  return found != origins_.end() && found->code == code ? *found : Origin{};
}

}  // namespace clew
