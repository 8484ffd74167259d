#include "pass/leftovers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace clew::pass {
namespace {

using Points = llvm::DenseSet<const llvm::Instruction*>;

// The words: a register that aligns the stack (where the cold side alone has a frame), the return
// address, the register that the hook saves. Not by xor: the flags may be of use to what follows.
constexpr char kClear[] =
    "movl $$0, %r11d\n\tmovq %r11, -8(%rsp)\n\tmovq %r11, -16(%rsp)\n\tmovq %r11, -24(%rsp)";

bool is_call(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call != nullptr && !call->isInlineAsm() && !llvm::isa<llvm::IntrinsicInst>(call);
}

// A call that may become a jump.
bool is_last_call(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && is_call(*call) && call->isTailCall() &&
         llvm::isa<llvm::ReturnInst>(call->getNextNonDebugInstruction());
}

// Whether words are left at the end of `block` if they are at its beginning; `exit` is told where the
// function is left with some.
template <typename Exit>
bool walk(llvm::BasicBlock& block, bool dirty, const Points& points, const Exit& exit) {
  for (llvm::Instruction& instruction : block) {
    dirty |= points.contains(&instruction);
    if (dirty && (llvm::isa<llvm::ReturnInst>(instruction) || is_last_call(instruction)))
      exit(instruction);
    if (is_call(instruction)) dirty = false;
  }
  return dirty;
}

}  // namespace

llvm::SmallVector<llvm::Instruction*, 4> find_dirty_exits(llvm::Function& function,
                                                          const Sites& sites) {
  Points points;
  for (const Site& site : sites)
    if (site.kind != abi::PointKind::kSyncCall) points.insert(site.before);
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  llvm::DenseMap<const llvm::BasicBlock*, bool> ends;
  const auto begins = [&ends](llvm::BasicBlock* block) {
    return llvm::any_of(llvm::predecessors(block),
                        [&ends](const llvm::BasicBlock* before) { return ends.lookup(before); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock* block : order) {
      const bool end = walk(*block, begins(block), points, [](llvm::Instruction&) {});
      changed |= end && !ends.lookup(block);
      ends[block] |= end;
    }
  }
  llvm::SmallVector<llvm::Instruction*, 4> exits;
  for (llvm::BasicBlock* block : order)
    walk(*block, begins(block), points,
         [&exits](llvm::Instruction& exit) { exits.push_back(&exit); });
  return exits;
}

void clear_leftovers(llvm::ArrayRef<llvm::Instruction*> exits) {
  for (llvm::Instruction* exit : exits) {
    llvm::IRBuilder<> builder(exit);
    builder.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(builder.getVoidTy(), false),
                                            kClear, "~{r11}",
                                            /*hasSideEffects=*/true));
  }
}

}  // namespace clew::pass
