// What hooks leave on the stack of the program.
//
// The slow side of a point calls a hook, and the call leaves a return address below the frame. Whether a
// point is looked at differs between a run and its replay, so a later function that reads a variable
// which it never set would find another value. A call that the function makes afterwards writes the same
// words in every run; where a function may return without one, the words are cleared.
#ifndef CLEW_PASS_LEFTOVERS_H_
#define CLEW_PASS_LEFTOVERS_H_

#include "llvm/ADT/SmallVector.h"
#include "pass/site.h"

namespace clew::pass {

// Where `function` returns, or calls another function in its place, with such words below its frame.
// REQUIRES: nothing was emitted into it.
llvm::SmallVector<llvm::Instruction*, 4> find_dirty_exits(llvm::Function& function,
                                                          const Sites& sites);

void clear_leftovers(llvm::ArrayRef<llvm::Instruction*> exits);

}  // namespace clew::pass

#endif  // CLEW_PASS_LEFTOVERS_H_
