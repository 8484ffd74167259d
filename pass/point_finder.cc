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

constexpr std::uint64_t kLargestVector = 64;  // bytes: AVX-512

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
  bool sized;          // the generic form: the size comes first
  std::uint64_t size;  // otherwise
};

std::optional<LibraryAtomic> find_library_atomic(llvm::StringRef name) {
  if (!name.consume_front("__atomic_")) return std::nullopt;
  const llvm::StringRef suffix = name.rsplit('_').second;
  std::uint64_t size = 0;
  const bool numbered = !suffix.getAsInteger(10, size);
  const auto atomic = [&](PointKind kind) { return LibraryAtomic{kind, !numbered, size}; };
  if (name.starts_with("load")) return atomic(PointKind::kAtomicLoad);
  if (name.starts_with("store")) return atomic(PointKind::kAtomicStore);
  if (name.starts_with("exchange")) return atomic(PointKind::kAtomicRmw);
  if (name.starts_with("compare_exchange")) return atomic(PointKind::kAtomicCas);
  if (name.starts_with("fetch_") && numbered) return atomic(PointKind::kAtomicRmw);
  return std::nullopt;
}

abi::MemoryOrder order_of(llvm::AtomicOrdering ordering) {
  switch (ordering) {
    case llvm::AtomicOrdering::Unordered:
    case llvm::AtomicOrdering::Monotonic:
      return abi::MemoryOrder::kRelaxed;
    case llvm::AtomicOrdering::Acquire:
      return abi::MemoryOrder::kAcquire;
    case llvm::AtomicOrdering::Release:
      return abi::MemoryOrder::kRelease;
    case llvm::AtomicOrdering::AcquireRelease:
      return abi::MemoryOrder::kAcquireRelease;
    case llvm::AtomicOrdering::SequentiallyConsistent:
      return abi::MemoryOrder::kSequential;
    case llvm::AtomicOrdering::NotAtomic:
      break;
  }
  return abi::MemoryOrder::kNotKnown;
}

std::optional<GuardCall> find_guard_call(llvm::StringRef name) {
  if (name == "__cxa_guard_acquire")
    return GuardCall{PointKind::kAtomicRmw, abi::MemoryOrder::kAcquire, true};
  if (name == "__cxa_guard_release" || name == "__cxa_guard_abort")
    return GuardCall{PointKind::kAtomicStore, abi::MemoryOrder::kRelease, false};
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

bool is_scope_end(const llvm::User* user) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::lifetime_end;
}

// Whether its life ends before that of the function, as the front end says from -O1 on.
bool has_scope(const llvm::AllocaInst& variable) {
  return llvm::any_of(variable.users(), is_scope_end);
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
  return !is_listed(name) && !find_block_call(name) && !find_library_atomic(name) &&
         !find_guard_call(name);
}

llvm::Value* PointFinder::size_of(const llvm::Instruction& at, llvm::Type* type) const {
  return llvm::ConstantInt::get(llvm::Type::getInt64Ty(at.getContext()),
                                layout_.getTypeStoreSize(type).getKnownMinValue());
}

void PointFinder::add(llvm::Instruction& at, PointKind kind, Sites& sites) {
  sites.push_back(Site{&at, kind});
}

void PointFinder::add_access(llvm::Instruction& at, PointKind kind, llvm::Value* address,
                             llvm::Value* size, Sites& sites, abi::MemoryOrder order) {
  sites.push_back(
      Site{.before = &at, .kind = kind, .address = address, .size = size, .order = order});
}

void PointFinder::add_shared(llvm::Instruction& at, PointKind kind, llvm::Value* address,
                             llvm::Value* size, Sites& sites) {
  if (granularity_ == Granularity::kSync || !sharing_.may_be_shared(address)) return;
  add_access(at, kind, address, size, sites);
}

PointFinder::PointFinder(Granularity granularity, llvm::Function& function,
                         ThreadLocals& thread_locals)
    : granularity_(granularity), layout_(function.getDataLayout()), sharing_(thread_locals) {
  // With a point for each line, the end of a variable's life is none: it has no line of its own.
  if (granularity != Granularity::kShared) return;
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable != nullptr && variable->isStaticAlloca() && !variable->isSwiftError() &&
        !has_scope(*variable) && sharing_.may_be_shared(variable))
      variables_.push_back(variable);
  }
}

void PointFinder::collect(llvm::Instruction& instruction, Sites& sites) {
  const bool plain = granularity_ != Granularity::kSync;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    llvm::Value* size = size_of(*load, load->getType());
    if (load->isAtomic())
      add_access(*load, PointKind::kAtomicLoad, load->getPointerOperand(), size, sites,
                 order_of(load->getOrdering()));
    else if (plain && sharing_.may_be_shared(*load))
      add_access(*load, PointKind::kLoad, load->getPointerOperand(), size, sites);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    llvm::Value* size = size_of(*store, store->getValueOperand()->getType());
    if (store->isAtomic())
      add_access(*store, PointKind::kAtomicStore, store->getPointerOperand(), size, sites,
                 order_of(store->getOrdering()));
    else if (plain && sharing_.may_be_shared(*store))
      add_access(*store, PointKind::kStore, store->getPointerOperand(), size, sites);
  } else if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    add_access(*rmw, PointKind::kAtomicRmw, rmw->getPointerOperand(),
               size_of(*rmw, rmw->getValOperand()->getType()), sites, order_of(rmw->getOrdering()));
  } else if (auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    add_access(*cas, PointKind::kAtomicCas, cas->getPointerOperand(),
               size_of(*cas, cas->getNewValOperand()->getType()), sites,
               order_of(cas->getMergedOrdering()));
  } else if (const auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
    // A fence against signal handlers only does not concern other threads.
    if (fence->getSyncScopeID() == llvm::SyncScope::SingleThread) return;
    add(instruction, PointKind::kFence, sites);
    sites.back().order = order_of(fence->getOrdering());
  } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    collect_call(*call, sites);
  } else if (llvm::isa<llvm::ReturnInst, llvm::ResumeInst>(instruction)) {
    add_scope_ends(instruction, sites);
  }
}

// Nothing may come between a call that takes the place of the function and the return.
void PointFinder::add_scope_ends(llvm::Instruction& exit, Sites& sites) {
  if (variables_.empty() || exit.getParent()->getTerminatingMustTailCall() != nullptr) return;
  Site site{&exit, PointKind::kScopeEnd};
  site.address = variables_.front();
  site.variables = variables_;
  sites.push_back(std::move(site));
}

void PointFinder::add_scope_end(llvm::IntrinsicInst& end, Sites& sites) {
  auto* variable = llvm::dyn_cast<llvm::AllocaInst>(end.getArgOperand(1)->stripPointerCasts());
  if (variable == nullptr || granularity_ != Granularity::kShared) return;
  const auto size = variable->getAllocationSize(layout_);
  if (!size || size->isScalable() || !sharing_.may_be_shared(variable)) return;
  add_access(
      end, PointKind::kScopeEnd, variable,
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(end.getContext()), size->getFixedValue()),
      sites);
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
    llvm::Value* size =
        atomic->sized
            ? argument(0)
            : llvm::ConstantInt::get(llvm::Type::getInt64Ty(call.getContext()), atomic->size);
    if (address != nullptr && address->getType()->isPointerTy())
      add_access(call, atomic->kind, address, size, sites);
  } else if (const auto guard = find_guard_call(callee)) {
    if (llvm::Value* address = argument(0); address != nullptr && address->getType()->isPointerTy())
      add_guard_access(call, *guard, address, sites);
  } else if (const auto block = find_block_call(callee)) {
    add_block(call, PointKind::kBlockRead, block->reads[0], sites);
    add_block(call, PointKind::kBlockRead, block->reads[1], sites);
    add_block(call, PointKind::kBlockWrite, block->write, sites);
    add_block(call, PointKind::kFree, block->freed, sites);
  }
}

// What __cxa_guard_acquire has waited for is over when it returns, not when it is called.
void PointFinder::add_guard_access(llvm::CallBase& call, const GuardCall& guard,
                                   llvm::Value* address, Sites& sites) {
  llvm::Value* size = llvm::ConstantInt::get(llvm::Type::getInt64Ty(call.getContext()), 1);
  add_access(call, guard.kind, address, size, sites, guard.order);
  if (llvm::Instruction* next = call.getNextNode(); next != nullptr && guard.waits)
    add_access(*next, PointKind::kAtomicLoad, address, size, sites, guard.order);
}

void PointFinder::add_block(llvm::CallBase& call, PointKind kind, const BlockOperand& operand,
                            Sites& sites) {
  const auto argument = [&call](unsigned index) -> llvm::Value* {
    return index < call.arg_size() ? call.getArgOperand(index) : nullptr;
  };
  const auto number = [&](unsigned index) {
    llvm::Value* value = argument(index);
    return value != nullptr && value->getType()->isIntegerTy() ? value : nullptr;
  };
  const auto pointer = [&](unsigned index) {
    llvm::Value* value = argument(index);
    return value != nullptr && value->getType()->isPointerTy() ? value : nullptr;
  };
  llvm::Value* address = pointer(operand.address);
  if (address == nullptr || granularity_ == Granularity::kSync || !sharing_.may_be_shared(address))
    return;
  const Extent& extent = operand.extent;
  Site site{&call, kind};
  site.address = address;
  site.strings = {pointer(extent.strings[0]), pointer(extent.strings[1])};
  site.size = number(extent.strings[0] == kNoArgument ? extent.bytes : extent.most);
  sites.push_back(std::move(site));
}

// A vector of addresses, of each of which one element is accessed.
void PointFinder::add_lanes(llvm::Instruction& at, PointKind kind, llvm::Value* addresses,
                            llvm::Type* accessed, Sites& sites) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(addresses->getType());
  if (type == nullptr) return;
  const std::size_t before = sites.size();
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane)
    add_shared(at, kind, addresses, size_of(at, accessed->getScalarType()), sites);
  for (std::size_t i = before; i < sites.size(); ++i)
    sites[i].lane = static_cast<unsigned>(i - before);
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
    case llvm::Intrinsic::masked_gather:
      return add_lanes(call, PointKind::kLoad, call.getArgOperand(0), call.getType(), sites);
    case llvm::Intrinsic::masked_scatter:
      return add_lanes(call, PointKind::kStore, call.getArgOperand(1),
                       call.getArgOperand(0)->getType(), sites);
    case llvm::Intrinsic::lifetime_end:
      return add_scope_end(call, sites);
    default:
      break;
  }
  // Intrinsics of a target: AVX masked moves and the like. None moves more than a vector.
  if (!call.getCalledFunction()->isTargetIntrinsic() || !call.onlyAccessesArgMemory()) return;
  if (llvm::Value* address = first_pointer(call); address != nullptr && call.mayReadOrWriteMemory())
    add_shared(call, call.mayWriteToMemory() ? PointKind::kStore : PointKind::kLoad, address,
               llvm::ConstantInt::get(llvm::Type::getInt64Ty(call.getContext()), kLargestVector),
               sites);
}

}  // namespace clew::pass
