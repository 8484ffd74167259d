// Calls that access memory as a whole, or end its life: block_calls.def.
#ifndef CLEW_PASS_BLOCK_CALLS_H_
#define CLEW_PASS_BLOCK_CALLS_H_

#include <optional>

#include "llvm/ADT/StringRef.h"

namespace clew::pass {

inline constexpr unsigned kNoArgument = ~0u;

// Arguments that say how much of a block is accessed.
struct Extent {
  unsigned bytes = kNoArgument;
  // All of this string, and of a second one.
  unsigned strings[2] = {kNoArgument, kNoArgument};
  // At most so much of the last one.
  unsigned most = kNoArgument;
};

struct BlockOperand {
  unsigned address = kNoArgument;
  Extent extent = {};
};

struct BlockCall {
  BlockOperand reads[2] = {};
  BlockOperand write = {};
  BlockOperand freed = {};
};

std::optional<BlockCall> find_block_call(llvm::StringRef callee);

}  // namespace clew::pass

#endif  // CLEW_PASS_BLOCK_CALLS_H_
