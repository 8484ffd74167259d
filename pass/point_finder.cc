#include "pass/point_finder.h"

#include <string>

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "pass/block_calls.h"

namespace clew::pass {
namespace {

using abi::PointKind;

// The name of the external function that is called; empty if it is defined here or unknown.
// Strips casts, so that a call without a prototype is recognised too.
llvm::StringRef external_callee(const llvm::CallBase& call) {
  const auto* callee =
      llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
  if (callee == nullptr || !callee->isDeclaration() || callee->isIntrinsic()) return {};
  return llvm::GlobalValue::dropLLVMManglingEscape(callee->getName());
}

bool is_listed(llvm::StringRef name) {
  static const llvm::StringSet<> names = {
#define CLEW_SYNC_CALL(name) #name,
#include "clew_abi/sync_calls.def"
  };
  return names.contains(name);
}

// A call of libatomic: __atomic_fetch_add_16(address, ...) or __atomic_load(size, address, ...).
struct LibraryAtomic {
  PointKind kind;
  bool sized;  // the generic form: the size comes first
};

std::optional<LibraryAtomic> find_library_atomic(llvm::StringRef name) {
  if (!name.consume_front("__atomic_")) return std::nullopt;
  const bool numbered = !name.empty() && name.back() >= '0' && name.back() <= '9';
  if (name.starts_with("load")) return LibraryAtomic{PointKind::kAtomicLoad, !numbered};
  if (name.starts_with("store")) return LibraryAtomic{PointKind::kAtomicStore, !numbered};
  if (name.starts_with("exchange")) return LibraryAtomic{PointKind::kAtomicRmw, !numbered};
  if (name.starts_with("compare_exchange")) return LibraryAtomic{PointKind::kAtomicCas, !numbered};
  if (name.starts_with("fetch_")) return LibraryAtomic{PointKind::kAtomicRmw, false};
  return std::nullopt;
}

std::optional<PointKind> kind_of_asm(const llvm::InlineAsm& code) {
  const std::string text = llvm::StringRef(code.getAsmString()).lower();
  const llvm::StringRef lower(text);
  if (lower.contains("pause") || lower.contains("rep; nop") || lower.contains("rep nop") ||
      lower.contains("rep;nop"))
    return PointKind::kPause;
  if (lower.contains("cmpxchg")) return PointKind::kAtomicCas;
  if (lower.contains("lock") || lower.contains("xchg")) return PointKind::kAtomicRmw;
  if (lower.contains("mfence")) return PointKind::kFence;
  return std::nullopt;
}

llvm::Value* first_pointer(llvm::CallBase& call) {
  for (llvm::Value* argument : call.args())
    if (argument->getType()->isPointerTy()) return argument;
  return nullptr;
}

}  // namespace

bool is_sync_call(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call != nullptr && !call->isInlineAsm() && is_listed(external_callee(*call));
}

bool is_plain_call(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr || call->isInlineAsm() || llvm::isa<llvm::IntrinsicInst>(call)) return false;
  const llvm::StringRef name = external_callee(*call);
  // abort, a failed assertion, a throw: the call ends this activation and does not return.
  if (!name.empty() && call->doesNotReturn()) return false;
  return !is_listed(name) && !find_block_call(name) && !find_library_atomic(name);
}

llvm::Value* PointFinder::size_of(const llvm::Instruction& at, llvm::Type* type) const {
  return llvm::ConstantInt::get(llvm::Type::getInt64Ty(at.getContext()),
                                layout_.getTypeStoreSize(type).getKnownMinValue());
}

void PointFinder::add(llvm::Instruction& at, PointKind kind, Sites& sites) {
  sites.push_back(Site{&at, kind});
}

void PointFinder::add_access(llvm::Instruction& at, PointKind kind, llvm::Value* address,
                             llvm::Value* size, Sites& sites) {
  sites.push_back(Site{&at, kind, address, size});
}

void PointFinder::add_shared(llvm::Instruction& at, PointKind kind, llvm::Value* address,
                             llvm::Value* size, Sites& sites) {
  if (granularity_ == Granularity::kSync || !sharing_.may_be_shared(address)) return;
  add_access(at, kind, address, size, sites);
}

void PointFinder::collect(llvm::Instruction& instruction, Sites& sites) {
  const bool plain = granularity_ != Granularity::kSync;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    llvm::Value* size = size_of(*load, load->getType());
    if (load->isAtomic())
      add_access(*load, PointKind::kAtomicLoad, load->getPointerOperand(), size, sites);
    else if (plain && sharing_.may_be_shared(*load))
      add_access(*load, PointKind::kLoad, load->getPointerOperand(), size, sites);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    llvm::Value* size = size_of(*store, store->getValueOperand()->getType());
    if (store->isAtomic())
      add_access(*store, PointKind::kAtomicStore, store->getPointerOperand(), size, sites);
    else if (plain && sharing_.may_be_shared(*store))
      add_access(*store, PointKind::kStore, store->getPointerOperand(), size, sites);
  } else if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    add_access(*rmw, PointKind::kAtomicRmw, rmw->getPointerOperand(),
               size_of(*rmw, rmw->getValOperand()->getType()), sites);
  } else if (auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    add_access(*cas, PointKind::kAtomicCas, cas->getPointerOperand(),
               size_of(*cas, cas->getNewValOperand()->getType()), sites);
  } else if (const auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
    // A fence against signal handlers only does not concern other threads.
    if (fence->getSyncScopeID() != llvm::SyncScope::SingleThread)
      add(instruction, PointKind::kFence, sites);
  } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    collect_call(*call, sites);
  }
}

void PointFinder::collect_call(llvm::CallBase& call, Sites& sites) {
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
    collect_intrinsic(*intrinsic, sites);
  } else if (const auto* code = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    const std::optional<PointKind> kind = kind_of_asm(*code);
    if (!kind) return;
    llvm::Value* address = first_pointer(call);
    if (*kind == PointKind::kPause || *kind == PointKind::kFence)
      add(call, *kind, sites);
    else if (address != nullptr)
      add_access(call, *kind, address, nullptr, sites);
  } else if (const llvm::StringRef callee = external_callee(call); is_listed(callee)) {
    add(call, PointKind::kSyncCall, sites);
  } else if (!callee.empty()) {
    collect_library_call(call, callee, sites);
  }
}

void PointFinder::collect_library_call(llvm::CallBase& call, llvm::StringRef callee, Sites& sites) {
  const auto argument = [&call](unsigned index) -> llvm::Value* {
    return index < call.arg_size() ? call.getArgOperand(index) : nullptr;
  };
  if (const auto atomic = find_library_atomic(callee)) {
    llvm::Value* address = argument(atomic->sized ? 1 : 0);
    if (address != nullptr && address->getType()->isPointerTy())
      add_access(call, atomic->kind, address, atomic->sized ? argument(0) : nullptr, sites);
  } else if (const auto block = find_block_call(callee)) {
    const auto add_block = [&](PointKind kind, const BlockOperand& operand) {
      llvm::Value* address = argument(operand.address);
      llvm::Value* size = argument(operand.size);
      if (size != nullptr && !size->getType()->isIntegerTy()) size = nullptr;
      if (address != nullptr && address->getType()->isPointerTy())
        add_shared(call, kind, address, size, sites);
    };
    add_block(PointKind::kBlockRead, block->reads[0]);
    add_block(PointKind::kBlockRead, block->reads[1]);
    add_block(PointKind::kBlockWrite, block->write);
  }
}

void PointFinder::collect_intrinsic(llvm::IntrinsicInst& call, Sites& sites) {
  if (auto* block = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&call)) {
    if (auto* transfer = llvm::dyn_cast<llvm::AnyMemTransferInst>(block))
      add_shared(call, PointKind::kBlockRead, transfer->getRawSource(), block->getLength(), sites);
    add_shared(call, PointKind::kBlockWrite, block->getRawDest(), block->getLength(), sites);
    return;
  }
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::x86_sse2_pause:
      return add(call, PointKind::kPause, sites);
    case llvm::Intrinsic::x86_sse2_mfence:
      return add(call, PointKind::kFence, sites);
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_expandload:
      return add_shared(call, PointKind::kLoad, call.getArgOperand(0),
                        size_of(call, call.getType()), sites);
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_compressstore:
      return add_shared(call, PointKind::kStore, call.getArgOperand(1),
                        size_of(call, call.getArgOperand(0)->getType()), sites);
    // A vector of addresses: emit.cc passes the first lane for all of them.
    case llvm::Intrinsic::masked_gather:
      return add_shared(call, PointKind::kLoad, call.getArgOperand(0), nullptr, sites);
    case llvm::Intrinsic::masked_scatter:
      return add_shared(call, PointKind::kStore, call.getArgOperand(1), nullptr, sites);
    default:
      break;
  }
  // Intrinsics of a target: AVX masked moves and the like.
  if (!call.getCalledFunction()->isTargetIntrinsic() || !call.onlyAccessesArgMemory()) return;
  if (llvm::Value* address = first_pointer(call); address != nullptr && call.mayReadOrWriteMemory())
    add_shared(call, call.mayWriteToMemory() ? PointKind::kStore : PointKind::kLoad, address,
               nullptr, sites);
}

}  // namespace clew::pass
