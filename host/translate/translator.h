// Translates a program's machine code, block by block, into code that does the same and writes down
// what it does: which blocks run, and what they read and write. The instructions themselves stay as
// they are, with the program's own registers, flags and stack; what is put between them uses memory
// of its own. Return addresses on the stack are the program's, so that unwinding works; every
// return is looked up.
//
// The code that runs is the one that ran when the recording was made, whatever it was built by: no
// second build, no other stack frames, and libraries are seen from inside.
#ifndef CLEW_HOST_TRANSLATE_TRANSLATOR_H_
#define CLEW_HOST_TRANSLATE_TRANSLATOR_H_

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "clew_abi/translation.h"
#include "host/translate/counting_code.h"
#include "host/translate/emitter.h"
#include "host/translate/instruction.h"

namespace clew {

enum class AccessKind : std::uint8_t {
  kRead,
  kWrite,
  kUpdate,
  kString,  // of a repeated string instruction: rdi, rsi and rcx before it
};

// What a block writes down of one memory operand.
struct RecordedAccess {
  std::uint32_t instruction = 0;  // of the block, from 0
  AccessKind kind = AccessKind::kRead;
  std::uint32_t size = 0;  // bytes
  std::uint32_t offset =
      0;                   // in the block's record: the address, 8 bytes; then the value, if it ...
  bool has_value = false;  // ... has one, in as many words as it needs; of an update the new one
};

struct TranslatedBlock {
  std::uint64_t address = 0;
  std::vector<std::uint32_t> instructions;  // where each begins, from `address`
  std::uint32_t size = 0;                   // bytes
  std::vector<std::uint8_t> code;           // of that size
  std::vector<RecordedAccess> accesses;
  std::uint32_t record_size = 8;
  // Of kCalls, in the block's record; 0: not there.
  std::uint32_t call_offset =
      0;  // CallRegisters, if it ends with a call, or with a jump that may be one
  std::uint32_t result_offset = 0;  // rax, if it begins where a call returns to
};

// As they are before the call.
struct CallRegisters {
  std::uint64_t arguments[6];
  std::uint64_t rsp;
};

// What is written down besides blocks and accesses.
enum class TraceDetail : std::uint8_t { kAccesses, kCalls };

class Translator {
 public:
  // The memory of clew_abi/translation.h as the host has it.
  Translator(std::span<std::uint8_t> memory, TraceDetail detail);
  // For counting runs. REQUIRES: the map outlives this.
  Translator(std::span<std::uint8_t> memory, OwnCode& map, CallDetail detail);
  // Of a counting translation, else null.
  [[nodiscard]] const CountingCode* counting() const { return counting_.get(); }

  // The code for the program's code at `address`, which begins with `bytes`. 0: there is none, the
  // program's own must run.
  std::uint64_t translate(std::uint64_t address, std::span<const std::uint8_t> bytes);
  // Direct branch number `exit` leads to the code from now on.
  void connect(std::uint32_t exit, std::uint64_t code);
  // Indirect branches to `address` find the code from now on, if they look in this table. Returns
  // what they find.
  std::uint64_t enlist(abi::TargetTable table, std::uint64_t address, std::uint64_t code);

  // The instruction that translated code stands for, or the one behind it.
  struct Origin {
    std::uint64_t code = 0;
    std::uint64_t address = 0;  // 0: none begins there
    std::uint32_t saved = 0;    // abi::SavedRegisters
  };
  [[nodiscard]] Origin origin(std::uint64_t code) const;
  [[nodiscard]] const std::deque<TranslatedBlock>& blocks() const { return blocks_; }

 private:
  std::uint64_t translate_block(std::uint64_t address, std::span<const std::uint8_t> bytes);
  void translate_ahead(std::size_t first, std::uint64_t address,
                       std::span<const std::uint8_t> bytes);
  struct Plan;

  abi::TranslationState& state() {
    return *reinterpret_cast<abi::TranslationState*>(memory_.data());
  }
  void begin();
  void emit_routines();
  std::uint64_t emit_lookup(abi::TargetTable table);
  void emit_direct(Gap from, std::uint64_t address, std::uint64_t target);
  std::uint64_t emit_native(std::uint64_t address);
  std::uint64_t emit_block(std::span<const Decoded> code);
  void emit_head(const TranslatedBlock& block);
  void emit_plain(const Decoded& code, const Plan& plan, std::uint32_t number);
  void emit_end(const Decoded& code, const Plan& plan, std::uint32_t number);
  void emit_copy(const Decoded& code);
  void emit_address(const Decoded& code, const ZydisDecodedOperand& operand);
  void emit_before(const Decoded& code, const Plan& plan, std::size_t access);
  void emit_written(const Written& what, const Plan& plan, const RecordedAccess& of);
  void emit_after(const Decoded& code, const Plan& plan, std::size_t access);
  void emit_call_registers(const Plan& plan);
  void emit_exit(Gap from, std::uint64_t target);
  void emit_indirect(const Decoded& code, const Plan& plan, std::uint32_t number);
  void note_origin(std::uint64_t address, std::uint32_t saved = 0) {
    origins_.push_back({emitter_.here(), address, saved});
  }

  std::span<std::uint8_t> memory_;
  TraceDetail detail_;
  Emitter emitter_;
  ZydisDecoder decoder_;
  std::array<std::uint64_t, abi::kTargetTables> lookups_{};  // the routines, by table
  std::unique_ptr<CountingCode> counting_;                   // null: everything is written down
  std::deque<TranslatedBlock> blocks_;                       // listeners keep references
  std::unordered_map<std::uint64_t, std::uint64_t> code_of_;
  std::unordered_set<std::uint64_t> return_sites_;    // kCalls
  std::vector<std::pair<Gap, std::uint64_t>> exits_;  // from 1
  std::vector<Origin> origins_;                       // by their code
};

}  // namespace clew

#endif  // CLEW_HOST_TRANSLATE_TRANSLATOR_H_
