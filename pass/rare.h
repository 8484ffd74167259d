// Code that runs seldom: on the way of an exception, or before a call that does not return.
#ifndef CLEW_PASS_RARE_H_
#define CLEW_PASS_RARE_H_

#include "llvm/ADT/DenseSet.h"

namespace llvm {
class BasicBlock;
class Function;
}  // namespace llvm

namespace clew::pass {

// Blocks that run at most once for each exception, or for each call that ends in something that does
// not return (abort, a throw, longjmp). Either costs a microsecond or more, so that points there may be
// made for size and not for speed. In a C++ file at -O1 a third of all points are of this kind.
llvm::DenseSet<const llvm::BasicBlock*> find_rare_blocks(llvm::Function& function);

}  // namespace clew::pass

#endif  // CLEW_PASS_RARE_H_
