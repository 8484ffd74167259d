// In an innermost loop that calls nothing, the countdown is carried from point to point in a
// register: it is still stored at each, but no longer loaded, and so no iteration waits for the
// store of the one before.
#ifndef CLEW_PASS_CARRY_H_
#define CLEW_PASS_CARRY_H_

#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace clew::pass {

// A place on the hot path that decrements the countdown.
struct Count {
  llvm::LoadInst* load;    // of the countdown
  llvm::StoreInst* store;  // what is left, in the same block
  llvm::Instruction*
      cold_end;  // the branch by which the cold side returns, the countdown being anything
};

// `counts` are those of `function`, all of whose code has been emitted.
void carry_countdown(llvm::Function& function, const std::vector<Count>& counts);

}  // namespace clew::pass

#endif  // CLEW_PASS_CARRY_H_
