// Which variables are in scope at an instruction. Only host/names/ includes this.
#ifndef CLEW_HOST_NAMES_SCOPES_H_
#define CLEW_HOST_NAMES_SCOPES_H_

#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/DebugInfo/DWARF/DWARFUnit.h>

#include <cstdint>
#include <vector>

namespace clew {

struct ScopedVariable {
  llvm::DWARFDie die;
  llvm::DWARFDie scope;     // the function that it belongs to, which may be inlined
  llvm::DWARFDie function;  // whose frame it is
};

// Innermost first. Those that were optimised away altogether are among them, without a location.
[[nodiscard]] std::vector<ScopedVariable> variables_in_scope(llvm::DWARFUnit& unit,
                                                             std::uint64_t pc);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_SCOPES_H_
