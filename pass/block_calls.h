// Calls that access memory as a whole: block_calls.def.
#ifndef CLEW_PASS_BLOCK_CALLS_H_
#define CLEW_PASS_BLOCK_CALLS_H_

#include <optional>

#include "llvm/ADT/StringRef.h"

namespace clew::pass {

inline constexpr unsigned kNoArgument = ~0u;

struct BlockOperand {
  unsigned address = kNoArgument;
  unsigned size = kNoArgument;
};

struct BlockCall {
  BlockOperand reads[2];
  BlockOperand write;
};

std::optional<BlockCall> find_block_call(llvm::StringRef callee);

}  // namespace clew::pass

#endif  // CLEW_PASS_BLOCK_CALLS_H_
