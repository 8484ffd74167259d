#include "pass/rare.h"

#include <utility>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace clew::pass {
namespace {

using Blocks = llvm::DenseSet<const llvm::BasicBlock*>;

// What can be reached without an exception.
Blocks find_usual_blocks(llvm::Function& function) {
  Blocks usual{&function.getEntryBlock()};
  llvm::SmallVector<llvm::BasicBlock*, 32> work{&function.getEntryBlock()};
  while (!work.empty())
    for (llvm::BasicBlock* next : llvm::successors(work.pop_back_val()))
      if (!next->isEHPad() && usual.insert(next).second) work.push_back(next);
  return usual;
}

// Whether exceptions are handled in loops of their own.
bool repeats(llvm::Function& function, const Blocks& usual) {
  using Edge = std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>;
  llvm::SmallVector<Edge, 8> edges;
  llvm::FindFunctionBackedges(function, edges);
  return llvm::any_of(edges, [&](const Edge& edge) { return !usual.contains(edge.second); });
}

}  // namespace

Blocks find_rare_blocks(llvm::Function& function) {
  const Blocks usual = find_usual_blocks(function);
  const bool keep_unwinding = usual.size() != function.size() && repeats(function, usual);
  Blocks rare;
  // Successors come first; the block that closes a loop does not know them all, and is not rare.
  for (llvm::BasicBlock* block : llvm::post_order(&function)) {
    const llvm::Instruction* end = block->getTerminator();
    const bool unwinds = !usual.contains(block) && !keep_unwinding;
    const bool is_last = llvm::isa<llvm::UnreachableInst>(end) ||
                         (end->getNumSuccessors() != 0 &&
                          llvm::all_of(llvm::successors(block), [&](const llvm::BasicBlock* next) {
                            return rare.contains(next);
                          }));
    if (unwinds || is_last) rare.insert(block);
  }
  return rare;
}

}  // namespace clew::pass
