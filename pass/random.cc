#include "pass/random.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "pass/hooks.h"

namespace clew::pass {
namespace {

bool is_random(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::x86_rdrand_16:
    case llvm::Intrinsic::x86_rdrand_32:
    case llvm::Intrinsic::x86_rdrand_64:
    case llvm::Intrinsic::x86_rdseed_16:
    case llvm::Intrinsic::x86_rdseed_32:
    case llvm::Intrinsic::x86_rdseed_64:
      return true;
    default:
      return false;
  }
}

// The number, and that there was one: the instruction's carry flag.
void replace(llvm::Instruction& instruction, const Hooks& hooks) {
  llvm::IRBuilder<> builder(&instruction);
  auto* pair = llvm::cast<llvm::StructType>(instruction.getType());
  llvm::CallInst* bits = builder.CreateCall(hooks.__clew_random);
  bits->setCallingConv(llvm::CallingConv::PreserveMost);
  llvm::Value* number = builder.CreateTrunc(bits, pair->getElementType(0));
  llvm::Value* both = builder.CreateInsertValue(llvm::PoisonValue::get(pair), number, 0);
  both = builder.CreateInsertValue(both, llvm::ConstantInt::get(pair->getElementType(1), 1), 1);
  instruction.replaceAllUsesWith(both);
  instruction.eraseFromParent();
}

}  // namespace

void replace_random_instructions(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (is_random(instruction)) replace(instruction, Hooks(*function.getParent()));
}

}  // namespace clew::pass
