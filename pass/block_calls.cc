#include "pass/block_calls.h"

#include "llvm/ADT/StringMap.h"

namespace clew::pass {
namespace {

constexpr unsigned N = kNoArgument;

const llvm::StringMap<BlockCall>& table() {
  static const llvm::StringMap<BlockCall> calls = {
#define CLEW_BLOCK_CALL(name, read1, size1, read2, size2, write, size3) \
  {#name, BlockCall{{{read1, size1}, {read2, size2}}, {write, size3}}},
#include "pass/block_calls.def"
  };
  return calls;
}

}  // namespace

std::optional<BlockCall> find_block_call(llvm::StringRef callee) {
  const auto at = table().find(callee);
  if (at == table().end()) return std::nullopt;
  return at->second;
}

}  // namespace clew::pass
