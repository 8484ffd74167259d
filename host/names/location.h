// Location expressions of DWARF, evaluated with what is known of a thread. Only host/names/
// includes this.
#ifndef CLEW_HOST_NAMES_LOCATION_H_
#define CLEW_HOST_NAMES_LOCATION_H_

#include <llvm/ADT/ArrayRef.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "host/names/machine.h"

namespace clew {

struct LocationInput {
  const Machine& machine;
  llvm::DWARFUnit* unit = nullptr;
  // What DW_OP_fbreg and DW_OP_call_frame_cfa stand for; asked for when they are needed.
  std::function<std::optional<std::uint64_t>()> frame_base;
  std::function<std::optional<std::uint64_t>()> cfa;
};

struct Evaluated {
  Whereabouts at;
  bool thread_local_storage = false;  // the address is one of it
};

// Expressions take a bounded number of steps, whatever they are.
[[nodiscard]] Evaluated evaluate(llvm::ArrayRef<std::uint8_t> expression,
                                 const LocationInput& input);

// The expression that holds at a linked address; nothing: there is none.
[[nodiscard]] std::optional<llvm::SmallVector<std::uint8_t, 4>> expression_at(
    const llvm::DWARFDie& die, llvm::dwarf::Attribute what, std::uint64_t pc);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_LOCATION_H_
