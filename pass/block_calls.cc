#include "pass/block_calls.h"

#include "llvm/ADT/StringMap.h"

namespace clew::pass {
namespace {

constexpr Extent bytes(unsigned argument) { return {.bytes = argument}; }
constexpr Extent string(unsigned argument, unsigned most = kNoArgument) {
  return {.strings = {argument, kNoArgument}, .most = most};
}
constexpr Extent strings(unsigned first, unsigned second, unsigned most = kNoArgument) {
  return {.strings = {first, second}, .most = most};
}

const llvm::StringMap<BlockCall>& table() {
  static const llvm::StringMap<BlockCall> calls = {
#define CLEW_BLOCK_CALL(name, ...) {#name, BlockCall{__VA_ARGS__}},
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
