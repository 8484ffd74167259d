// The processor's random numbers, which nothing records: `rdrand` and `rdseed` become calls of the
// runtime. Those of inline assembly and of code that is not instrumented stay.
#ifndef CLEW_PASS_RANDOM_H_
#define CLEW_PASS_RANDOM_H_

#include "llvm/IR/Function.h"

namespace clew::pass {

void replace_random_instructions(llvm::Function& function);

}  // namespace clew::pass

#endif  // CLEW_PASS_RANDOM_H_
