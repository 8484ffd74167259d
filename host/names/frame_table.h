// Call frame information (.eh_frame): where a function's frame is, and what its caller's registers
// were. Only host/names/ includes this.
#ifndef CLEW_HOST_NAMES_FRAME_TABLE_H_
#define CLEW_HOST_NAMES_FRAME_TABLE_H_

#include <llvm/DebugInfo/DWARF/DWARFDebugFrame.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "host/names/dwarf_file.h"
#include "host/names/machine.h"
#include "host/names/registers.h"

namespace clew {

class FrameTable {
 public:
  explicit FrameTable(DwarfFile& file) : file_(file) {}

  // `pc`: linked. Nothing: no function is known there, or a register or memory is not known.
  [[nodiscard]] std::optional<std::uint64_t> cfa(std::uint64_t pc, const Machine& machine);
  // A register that the frame's address tells, as rsp or rbp is some way below it.
  [[nodiscard]] std::optional<std::uint64_t> register_by_cfa(std::uint64_t pc, unsigned number,
                                                             std::uint64_t cfa);
  // The registers of the caller where the function returns to.
  [[nodiscard]] std::optional<Registers> caller(std::uint64_t pc, const Machine& machine);

 private:
  struct Function {
    std::uint64_t begin, end;
    const llvm::dwarf::FDE* entry;
  };
  void load();
  const llvm::dwarf::UnwindRow* row_at(std::uint64_t pc);
  std::optional<std::uint64_t> cfa_of(const llvm::dwarf::UnwindRow& row, const Machine& machine);
  std::optional<std::uint64_t> computed(const llvm::dwarf::UnwindLocation& location,
                                        const Machine& machine, std::optional<std::uint64_t> start);

  DwarfFile& file_;
  bool loaded_ = false;
  std::vector<Function> functions_;  // ascending
  std::map<const llvm::dwarf::FDE*, std::optional<llvm::dwarf::UnwindTable>> tables_;
};

}  // namespace clew

#endif  // CLEW_HOST_NAMES_FRAME_TABLE_H_
