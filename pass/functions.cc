#include "pass/functions.h"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/EHPersonalities.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"

namespace clew::pass {
namespace {

constexpr char kDone[] = "clew-done";
constexpr char kNoYieldAnnotation[] = "clew_no_yield";

llvm::StringRef annotation_text(const llvm::Value* value) {
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(value->stripPointerCasts());
  if (global == nullptr || !global->hasInitializer()) return {};
  const auto* text = llvm::dyn_cast<llvm::ConstantDataArray>(global->getInitializer());
  return text != nullptr && text->isCString() ? text->getAsCString() : llvm::StringRef();
}

// Clones keep the name of the function they come from, but not its annotation: f.specialized.1,
// f.resume.
llvm::StringRef original_name(const llvm::Value& function) {
  return function.getName().split('.').first;
}

// The wrapper of a thread_local variable, which the user did not write.
bool is_thread_local_wrapper(const llvm::Function& function) {
  return function.getName().starts_with("_ZTW");
}

// Code for Windows, whose calls need a token, and interrupt handlers.
bool is_foreign(const llvm::Function& function) {
  return function.getCallingConv() == llvm::CallingConv::X86_INTR ||
         (function.hasPersonalityFn() &&
          llvm::isScopedEHPersonality(llvm::classifyEHPersonality(function.getPersonalityFn())));
}

}  // namespace

Functions::Functions(llvm::Module& module) {
  for (llvm::GlobalIFunc& ifunc : module.ifuncs()) resolvers_.insert(ifunc.getResolverFunction());
  const llvm::GlobalVariable* annotations = module.getGlobalVariable("llvm.global.annotations");
  if (annotations == nullptr || !annotations->hasInitializer()) return;
  for (const llvm::Use& entry : annotations->getInitializer()->operands()) {
    const auto* fields = llvm::dyn_cast<llvm::ConstantStruct>(entry.get());
    if (fields != nullptr && annotation_text(fields->getOperand(1)) == kNoYieldAnnotation)
      silent_.insert(original_name(*fields->getOperand(0)->stripPointerCasts()));
  }
}

Instrumentation Functions::instrumentation_of(const llvm::Function& function) const {
  if (function.isDeclaration() || function.hasAvailableExternallyLinkage() ||
      function.hasFnAttribute(llvm::Attribute::Naked) || function.hasFnAttribute(kDone) ||
      function.getName().starts_with("__clew_") || resolvers_.contains(&function) ||
      is_thread_local_wrapper(function) || is_foreign(function))
    return Instrumentation::kNone;
  return silent_.contains(original_name(function)) ? Instrumentation::kSilent
                                                   : Instrumentation::kFull;
}

void mark_done(llvm::Function& function) { function.addFnAttr(kDone); }

void drop_stale_attributes(llvm::Module& module) {
  llvm::AttributeMask stale;
  for (const auto kind :
       {llvm::Attribute::Memory, llvm::Attribute::NoSync, llvm::Attribute::Speculatable,
        llvm::Attribute::WillReturn, llvm::Attribute::NoCallback})
    stale.addAttribute(kind);
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) continue;
    function.removeFnAttrs(stale);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || call->isInlineAsm()) continue;
      const llvm::Function* callee = call->getCalledFunction();
      if (callee == nullptr || !callee->isIntrinsic()) call->removeFnAttrs(stale);
    }
  }
}

}  // namespace clew::pass
