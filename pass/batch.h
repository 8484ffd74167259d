// Batching: points with nothing between them that could count others are counted together.
//
//   head: countdown -= n; if (countdown < 0) goto slow
//   fast: the code without its n points
//   tail: ...
//   slow: countdown += n; a copy of the code with each point for itself; goto tail
//
// This is exact: of n points in a row none fires if and only if countdown - n >= 0.
#ifndef CLEW_PASS_BATCH_H_
#define CLEW_PASS_BATCH_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/BasicBlock.h"
#include "pass/site.h"

namespace clew::pass {

struct Batch {
  llvm::ArrayRef<Site> sites;  // counted ones of one block, in order, at least two
  // The first instruction that is not copied; the last sites may be those before it.
  llvm::Instruction* end = nullptr;
};

// The longest batch that ends with the last of `sites`; it has no sites if that one is better
// emitted alone. `sites` are the points of a function that are not emitted yet, `stop` is the code
// that was emitted before.
Batch last_batch(llvm::ArrayRef<Site> sites, const llvm::Instruction* stop);

struct SplitBatch {
  llvm::BasicBlock* head;  // lacks a terminator
  llvm::BasicBlock* fast;
  llvm::BasicBlock* slow;
  Sites slow_sites;  // the points of the batch, in `slow`
};

SplitBatch split(const Batch& batch);

}  // namespace clew::pass

#endif  // CLEW_PASS_BATCH_H_
