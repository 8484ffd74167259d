#include "pass/hooks.h"

#include <cstdint>
#include <type_traits>

#include "clew_abi/point.h"
#include "llvm/IR/DerivedTypes.h"

namespace clew::pass {
namespace {

template <typename T>
llvm::Type* type_of(llvm::LLVMContext& context) {
  if constexpr (std::is_void_v<T>) {
    return llvm::Type::getVoidTy(context);
  } else if constexpr (std::is_pointer_v<T>) {
    return llvm::PointerType::getUnqual(context);
  } else {
    static_assert(std::is_integral_v<T>);
    return llvm::IntegerType::get(context, sizeof(T) * 8);
  }
}

llvm::GlobalVariable* declare_tls(llvm::Module& module, llvm::StringRef name, llvm::Type* type) {
  if (llvm::GlobalVariable* existing = module.getGlobalVariable(name)) return existing;
  return new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                                  llvm::GlobalValue::ExternalLinkage,
                                  /*Initializer=*/nullptr, name, /*InsertBefore=*/nullptr,
                                  llvm::GlobalValue::InitialExecTLSModel);
}

llvm::FunctionCallee declare_hook(llvm::Module& module, llvm::StringRef name, llvm::Type* result,
                                  llvm::ArrayRef<llvm::Type*> parameters) {
  llvm::FunctionCallee hook =
      module.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
  if (auto* function = llvm::dyn_cast<llvm::Function>(hook.getCallee())) {
    function->setCallingConv(llvm::CallingConv::PreserveMost);
    function->setDoesNotThrow();
    // Through the GOT: the dynamic linker's lazy binding keeps fewer registers than preserve_most
    // promises, and the first call of a hook would come back with a wrong one.
    function->addFnAttr(llvm::Attribute::NonLazyBind);
    function->addFnAttr(llvm::Attribute::Cold);
  }
  return hook;
}

}  // namespace

Hooks::Hooks(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const ptr = llvm::PointerType::getUnqual(context);
  llvm::Type* const i64 = llvm::Type::getInt64Ty(context);
#define CLEW_HOOK(result, symbol, parameters, ...) \
  symbol = declare_hook(module, #symbol, type_of<result>(context), __VA_ARGS__);
#define CLEW_TLS(symbol, type) symbol = declare_tls(module, #symbol, type_of<type>(context));
#include "clew_abi/hooks.def"
}

}  // namespace clew::pass
