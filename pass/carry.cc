#include "pass/carry.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

namespace clew::pass {
namespace {

// Of the 15 general registers, those that the cold side and the address of the countdown do not need.
// With more values the countdown would be kept on the stack, and nothing be gained.
constexpr unsigned kMaxRegisters = 10;

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

// The countdown is another one in a replay: no register may keep it behind the loop, where it could
// come to lie on the stack.
void clear_at(llvm::BasicBlock* exit, llvm::Value* countdown) {
  llvm::IRBuilder<> builder(exit, exit->getFirstInsertionPt());
  llvm::Type* const type = countdown->getType();
  builder.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "xorl ${0:k}, ${0:k}",
                           "=r,0,~{flags}", /*hasSideEffects=*/true),
      {countdown});
}

// An estimate of how many registers the loop needs besides the countdown.
unsigned registers_of(const llvm::Loop& loop) {
  llvm::DenseSet<const llvm::Value*> values;
  const auto is_general = [](const llvm::Value& value) {
    return value.getType()->isIntOrPtrTy() && !llvm::isa<llvm::Constant>(value);
  };
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) {
      const bool is_carried = llvm::isa<llvm::PHINode>(instruction) && block == loop.getHeader();
      if (is_general(instruction) && (is_carried || instruction.isUsedOutsideOfBlock(block)))
        values.insert(&instruction);
      for (const llvm::Value* operand : instruction.operand_values()) {
        const auto* from = llvm::dyn_cast<llvm::Instruction>(operand);
        const bool is_outside =
            from == nullptr ? llvm::isa<llvm::Argument>(operand) : !loop.contains(from);
        if (is_outside && is_general(*operand) && !llvm::isa<llvm::AllocaInst>(operand))
          values.insert(operand);
      }
    }
  return values.size();
}

void carry_in(const llvm::Loop& loop, llvm::BasicBlock* preheader,
              const std::vector<Count>& counts) {
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
  llvm::SmallVector<llvm::BasicBlock*, 4> exits;
  loop.getUniqueExitBlocks(exits);
  for (llvm::BasicBlock* exit : exits) clear_at(exit, values.GetValueInMiddleOfBlock(exit));
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
    if (!calls_nothing(*loop) || registers_of(*loop) > kMaxRegisters) continue;
    llvm::BasicBlock* preheader = loop->getLoopPreheader();
    if (preheader == nullptr)  // none is possible behind a computed goto
      preheader =
          llvm::InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    if (preheader == nullptr) continue;
    llvm::formDedicatedExitBlocks(loop, &dominators, &loops, nullptr, /*PreserveLCSSA=*/false);
    if (loop->hasDedicatedExits()) carry_in(*loop, preheader, innermost[loop]);
  }
}

}  // namespace clew::pass
