// A yield point that is planned but not yet emitted.
#ifndef CLEW_PASS_SITE_H_
#define CLEW_PASS_SITE_H_

#include <array>
#include <cstddef>

#include "clew_abi/point.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class AllocaInst;
class Instruction;
class Value;
}  // namespace llvm

namespace clew::pass {

struct Site {
  llvm::Instruction* before;  // the point goes directly before it
  abi::PointKind kind;
  // Accesses only. A vector: the address is its element number `lane`.
  llvm::Value* address = nullptr;
  unsigned lane = 0;
  // Accesses only, any integer type; null: unknown. With strings: at most that much of the last.
  llvm::Value* size = nullptr;
  // If not null, the size is that of these strings together.
  std::array<llvm::Value*, 2> strings = {};
  // kScopeEnd at the end of a function: all of these end there.
  llvm::SmallVector<llvm::AllocaInst*, 0> variables = {};
  // Atomic accesses and fences only.
  abi::MemoryOrder order = abi::MemoryOrder::kNotKnown;
  std::size_t index = 0;  // in the PointTable
};

// In execution order within a block; several sites may have the same `before`.
using Sites = llvm::SmallVector<Site, 0>;

}  // namespace clew::pass

#endif  // CLEW_PASS_SITE_H_
