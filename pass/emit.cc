#include "pass/emit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"

namespace clew::pass {
namespace {

using abi::PointKind;

// Debuggers show the point where the instruction is, or at the function's beginning.
llvm::DebugLoc debug_location(const llvm::Instruction& instruction) {
  if (const llvm::DebugLoc& location = instruction.getDebugLoc()) return location;
  llvm::DISubprogram* subprogram = instruction.getFunction()->getSubprogram();
  if (subprogram == nullptr) return {};
  return llvm::DILocation::get(instruction.getContext(), subprogram->getScopeLine(), 0, subprogram);
}

// Computes an address anew in the cold block, so that the hot path keeps it folded into its access.
llvm::Value* rematerialise(llvm::Value* address, llvm::IRBuilder<>& builder) {
  auto* computation = llvm::dyn_cast<llvm::GetElementPtrInst>(address);
  if (computation == nullptr || computation->getType()->isVectorTy()) return address;
  return builder.Insert(computation->clone());
}

llvm::CallInst* preserve_most_call(llvm::IRBuilder<>& builder, llvm::FunctionCallee hook,
                                   llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* call = builder.CreateCall(hook, arguments);
  call->setCallingConv(llvm::CallingConv::PreserveMost);
  call->setDoesNotThrow();
  return call;
}

}  // namespace

void Emitter::emit_hook_call(const Site& site, llvm::IRBuilder<>& builder) {
  llvm::Constant* point = table_.address_of(site.index);
  if (site.address == nullptr) {
    preserve_most_call(builder, hooks_.__clew_yield, {point});
    return;
  }
  llvm::Value* address = rematerialise(site.address, builder);
  if (address->getType()->isVectorTy()) address = builder.CreateExtractElement(address, std::uint64_t{0});
  llvm::Value* size = site.size == nullptr ? builder.getInt64(0)
                                           : builder.CreateZExtOrTrunc(site.size, builder.getInt64Ty());
  preserve_most_call(builder, hooks_.__clew_yield_access,
                     {point, builder.CreatePointerBitCastOrAddrSpaceCast(address, builder.getPtrTy()), size});
}

llvm::Instruction* Emitter::emit_gated(const Site& site, llvm::Instruction* before) {
  const llvm::DebugLoc location = debug_location(*site.before);
  llvm::BasicBlock* head = before->getParent();
  llvm::BasicBlock* tail = head->splitBasicBlock(before->getIterator());
  head->getTerminator()->eraseFromParent();
  llvm::BasicBlock* cold = llvm::BasicBlock::Create(module_.getContext(), "", head->getParent());

  llvm::IRBuilder<> builder(head);
  builder.SetCurrentDebugLocation(location);
  llvm::CallInst* countdown = builder.CreateThreadLocalAddress(hooks_.__clew_countdown);
  llvm::Value* left = builder.CreateSub(builder.CreateLoad(builder.getInt64Ty(), countdown), builder.getInt64(1));
  builder.CreateStore(left, countdown);
  builder.CreateCondBr(builder.CreateICmpSLT(left, builder.getInt64(0)), cold, tail,
                       llvm::MDBuilder(module_.getContext()).createUnlikelyBranchWeights());

  builder.SetInsertPoint(cold);
  builder.SetCurrentDebugLocation(location);
  emit_hook_call(site, builder);
  builder.CreateBr(tail);
  return countdown;
}

llvm::Instruction* Emitter::emit_spin(const Site& site, llvm::Instruction* before) {
  llvm::IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(debug_location(*site.before));
  return preserve_most_call(builder, hooks_.__clew_spin, {table_.address_of(site.index)});
}

llvm::Instruction* Emitter::emit_call_site(llvm::Constant* point, llvm::Instruction* before) {
  llvm::IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(debug_location(*before));
  llvm::CallInst* call_site = builder.CreateThreadLocalAddress(hooks_.__clew_call_site);
  builder.CreateStore(point, call_site);
  return call_site;
}

// Backwards: splitting a block then moves only what lies between two points, not
// the rest of the block each time.
void Emitter::emit(const Sites& sites) {
  llvm::Instruction* last_before = nullptr;
  llvm::Instruction* first_emitted = nullptr;
  for (const Site& site : llvm::reverse(sites)) {
    llvm::Instruction* before = site.before == last_before ? first_emitted : site.before;
    last_before = site.before;
    if (site.kind == PointKind::kPause)
      first_emitted = emit_spin(site, before);
    else if (site.kind == PointKind::kSyncCall)
      first_emitted = emit_call_site(table_.address_of(site.index), before);
    else
      first_emitted = emit_gated(site, before);
  }
}

void Emitter::emit_silent(const Sites& calls) {
  llvm::Constant* number =
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(module_.getContext()), abi::kNoPointSite);
  llvm::Constant* point =
      llvm::ConstantExpr::getIntToPtr(number, llvm::PointerType::getUnqual(module_.getContext()));
  for (const Site& call : calls) emit_call_site(point, call.before);
}

}  // namespace clew::pass
