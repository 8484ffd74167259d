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

// Those of the function's blocks that `pc` is not in: destructors are called, and scopes end, behind the
// code that the debug information has for a block.
[[nodiscard]] std::vector<ScopedVariable> variables_of_other_blocks(llvm::DWARFUnit& unit,
                                                                    std::uint64_t pc);

// Whether each variable of the unit has one place for all of its life, as in code that was not optimised:
// no two of them share memory, and what lies in a frame and is none of them has no name.
[[nodiscard]] bool has_fixed_places(llvm::DWARFUnit& unit);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_SCOPES_H_
