// The runtime's symbols (clew_abi/hooks.def) as a module sees them.
#ifndef CLEW_PASS_HOOKS_H_
#define CLEW_PASS_HOOKS_H_

#include "llvm/IR/Module.h"

namespace clew::pass {

// Declares all of them, each in the member of its name.
struct Hooks {
  explicit Hooks(llvm::Module& module);

#define CLEW_HOOK(result, symbol, ...) llvm::FunctionCallee symbol;
#define CLEW_TLS(symbol, type) llvm::GlobalVariable* symbol = nullptr;
#include "clew_abi/hooks.def"
};

}  // namespace clew::pass

#endif  // CLEW_PASS_HOOKS_H_
