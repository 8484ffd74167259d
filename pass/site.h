// A yield point that is planned but not yet emitted.
#ifndef CLEW_PASS_SITE_H_
#define CLEW_PASS_SITE_H_

#include <cstddef>

#include "clew_abi/point.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Instruction;
class Value;
}  // namespace llvm

namespace clew::pass {

struct Site {
  llvm::Instruction* before;  // the point goes directly before it
  abi::PointKind kind;
  llvm::Value* address = nullptr;  // accesses only
  llvm::Value* size = nullptr;     // accesses only, any integer type; null: unknown
  std::size_t index = 0;           // in the PointTable
};

// In execution order within a block; several sites may have the same `before`.
using Sites = llvm::SmallVector<Site, 0>;

}  // namespace clew::pass

#endif  // CLEW_PASS_SITE_H_
