#include "pass/sharing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Argument.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"

namespace clew::pass {
namespace {

// LLVM's default of 100 would call every busy local variable of -O0 code shared.
constexpr unsigned kMaxUses = 2000;

bool escapes(const llvm::Value* object) {
  return llvm::PointerMayBeCaptured(object, /*ReturnCaptures=*/true, /*StoreCaptures=*/true,
                                    kMaxUses);
}

// Whether somebody other than the code that names the variable may get to know its address.
bool address_is_taken(const llvm::GlobalVariable& variable) {
  return llvm::any_of(variable.users(), [&variable](const llvm::User* user) {
    if (llvm::isa<llvm::LoadInst>(user)) return false;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
      return store->getValueOperand() == &variable;
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
    return call == nullptr || call->getIntrinsicID() != llvm::Intrinsic::threadlocal_address ||
           escapes(call);
  });
}

// Memory that did not exist before the call. That of a realloc may be where it was, and others may
// know of it.
bool is_new_memory(const llvm::Value* object) {
  if (!llvm::isNoAliasCall(object)) return false;
  const llvm::Attribute kind =
      llvm::cast<llvm::CallBase>(object)->getFnAttr(llvm::Attribute::AllocKind);
  return !kind.isValid() ||
         (kind.getAllocKind() & llvm::AllocFnKind::Realloc) == llvm::AllocFnKind::Unknown;
}

const llvm::LoadInst* vtable_load(const llvm::LoadInst& slot_load) {
  return llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(slot_load.getPointerOperand()));
}

// -O0 has no TBAA. There, only clang's virtual call evaluates the object once and uses
// the value both to load the table and as `this`; C's object->table->function(object) evaluates it
// twice.
bool is_unoptimised_virtual_call(const llvm::LoadInst& slot_load, const llvm::LoadInst& table) {
  if (!slot_load.getFunction()->hasOptNone() || !slot_load.hasOneUse()) return false;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(slot_load.user_back());
  return call != nullptr && call->getCalledOperand() == &slot_load &&
         llvm::is_contained(call->args(), table.getPointerOperand());
}

bool is_vtable_slot(const llvm::LoadInst& load) {
  const llvm::LoadInst* table = vtable_load(load);
  if (table == nullptr) return false;
  const llvm::MDNode* tag = table->getMetadata(llvm::LLVMContext::MD_tbaa);
  if (tag != nullptr && tag->isTBAAVtableAccess()) return true;
  return is_unoptimised_virtual_call(load, *table);
}

}  // namespace

bool is_parameter_spill(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store != nullptr && llvm::isa<llvm::Argument>(store->getValueOperand()) &&
         store->getParent()->isEntryBlock() && store->getFunction()->hasOptNone() &&
         llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()));
}

bool ThreadLocals::may_be_shared(const llvm::GlobalVariable& variable) {
  if (!variable.hasLocalLinkage()) return true;
  const auto [known, is_new] = variables_.try_emplace(&variable, true);
  if (is_new) known->second = address_is_taken(variable);
  return known->second;
}

bool SharingAnalysis::object_may_be_shared(const llvm::Value* object) {
  if (llvm::isa<llvm::AllocaInst>(object)) return escapes(object);
  if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object))
    return !global->isConstant() &&
           (!global->isThreadLocal() || thread_locals_.may_be_shared(*global));
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object))
    return !argument->hasByValAttr() || escapes(object);
  if (is_new_memory(object)) return escapes(object);
  return !llvm::isa<llvm::UndefValue>(object);
}

bool SharingAnalysis::may_be_shared(const llvm::Value* pointer) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects);
  return llvm::any_of(objects, [this](const llvm::Value* object) {
    if (const auto at = objects_.find(object); at != objects_.end()) return at->second;
    return objects_[object] = object_may_be_shared(object);
  });
}

bool SharingAnalysis::may_be_shared(const llvm::LoadInst& load) {
  return !load.hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
         may_be_shared(load.getPointerOperand()) && !is_vtable_slot(load);
}

bool SharingAnalysis::may_be_shared(const llvm::StoreInst& store) {
  return may_be_shared(store.getPointerOperand()) && !is_parameter_spill(store);
}

}  // namespace clew::pass
