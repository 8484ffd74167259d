#include "pass/carry.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

namespace clew::pass {
namespace {

bool is_hook(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return false;
  const llvm::StringRef name = callee->getName();
  return name.starts_with("__clew_yield");
}

// Only the points of the loop itself touch the countdown.
bool calls_nothing(const llvm::Loop& loop) {
  return llvm::all_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::all_of(*block, [](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      return call == nullptr || is_hook(*call) || llvm::isa<llvm::IntrinsicInst>(call);
    });
  });
}

llvm::Value* load_again(const llvm::LoadInst& load, llvm::Instruction* before) {
  llvm::IRBuilder<> builder(before);
  const auto* address = llvm::cast<llvm::IntrinsicInst>(load.getPointerOperand());
  return builder.CreateLoad(load.getType(),
                            builder.CreateThreadLocalAddress(address->getArgOperand(0)));
}

void carry_in(llvm::BasicBlock* preheader, const std::vector<Count>& counts) {
  llvm::SSAUpdater values;
  values.Initialize(counts.front().load->getType(), "");
  values.AddAvailableValue(preheader, load_again(*counts.front().load, preheader->getTerminator()));
  for (const Count& count : counts) {
    values.AddAvailableValue(count.store->getParent(), count.store->getValueOperand());
    values.AddAvailableValue(count.cold_end->getParent(), load_again(*count.load, count.cold_end));
  }
  for (const Count& count : counts) {
    count.load->replaceAllUsesWith(values.GetValueInMiddleOfBlock(count.load->getParent()));
    count.load->eraseFromParent();
  }
}

}  // namespace

void carry_countdown(llvm::Function& function, const std::vector<Count>& counts) {
  if (counts.empty()) return;
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::DenseMap<llvm::Loop*, std::vector<Count>> innermost;
  llvm::SmallVector<llvm::Loop*, 8> order;
  for (const Count& count : counts) {
    llvm::Loop* loop = loops.getLoopFor(count.load->getParent());
    if (loop == nullptr || !loop->isInnermost() || !loop->contains(count.cold_end->getParent()))
      continue;
    auto& of_loop = innermost[loop];
    if (of_loop.empty()) order.push_back(loop);
    of_loop.push_back(count);
  }
  for (llvm::Loop* loop : order) {
    if (!calls_nothing(*loop)) continue;
    llvm::BasicBlock* preheader = loop->getLoopPreheader();
    if (preheader == nullptr)  // none is possible behind a computed goto
      preheader =
          llvm::InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    if (preheader != nullptr) carry_in(preheader, innermost[loop]);
  }
}

}  // namespace clew::pass
