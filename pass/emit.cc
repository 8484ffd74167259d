#include "pass/emit.h"

#include <algorithm>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "pass/leftovers.h"
#include "pass/rare.h"

namespace clew::pass {
namespace {

using abi::PointKind;

bool has_line(const llvm::Instruction& instruction) {
  const llvm::DebugLoc& location = instruction.getDebugLoc();
  return location && location.getLine() != 0;
}

// A point belongs to the line that its instruction belongs to, so that a debugger sees the lines
// that it would see without the point. If that has none, to the next one of the block, or else to
// line 0.
llvm::DebugLoc debug_location(const llvm::Instruction& instruction) {
  constexpr int kFar = 8;  // chosen: what is further away is another statement
  const llvm::Instruction* at = &instruction;
  for (int i = 0; i < kFar && at != nullptr && !has_line(*at); ++i)
    at = at->getNextNonDebugInstruction();
  if (at != nullptr && has_line(*at)) return at->getDebugLoc();
  llvm::DISubprogram* subprogram = instruction.getFunction()->getSubprogram();
  if (instruction.getDebugLoc() || subprogram == nullptr) return instruction.getDebugLoc();
  return llvm::DILocation::get(instruction.getContext(), 0, 0, subprogram);
}

// If all that an entry does is to enter a loop, the function begins with the loop's first line: the
// branch makes no code.
llvm::DebugLoc debug_location(const Site& site) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(site.before);
  if (site.kind != PointKind::kEntry || branch == nullptr || branch->isConditional())
    return debug_location(*site.before);
  return debug_location(*branch->getSuccessor(0)->getFirstNonPHIOrDbg());
}

// Computes an address anew in the cold block, so that the hot path keeps it folded into its access.
llvm::Value* rematerialise(llvm::Value* address, llvm::IRBuilder<>& builder) {
  auto* computation = llvm::dyn_cast<llvm::GetElementPtrInst>(address);
  if (computation == nullptr || computation->getType()->isVectorTy()) return address;
  if (computation->getParent() == builder.GetInsertBlock()) return address;
  return builder.Insert(computation->clone());
}

llvm::CallInst* preserve_most_call(llvm::IRBuilder<>& builder, llvm::FunctionCallee hook,
                                   llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* call = builder.CreateCall(hook, arguments);
  call->setCallingConv(llvm::CallingConv::PreserveMost);
  call->setDoesNotThrow();
  return call;
}

// The weak compare-exchange that the point belongs to, if it is one.
llvm::AtomicCmpXchgInst* weak_cas_of(const Site& site) {
  if (site.kind != PointKind::kAtomicCas) return nullptr;
  auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(site.before);
  return cas != nullptr && cas->isWeak() ? cas : nullptr;
}

// A value that differs from `value` in every bit, or, of addresses, by one.
llvm::Value* other_than(llvm::Value* value, llvm::IRBuilder<>& builder) {
  return value->getType()->isPointerTy() ? builder.CreatePtrAdd(value, builder.getInt64(1))
                                         : builder.CreateNot(value);
}

llvm::Instruction* first_of(const Count& count) {
  return llvm::cast<llvm::Instruction>(count.load->getPointerOperand());
}

}  // namespace

// The part of the frame that the variables lie in.
std::pair<llvm::Value*, llvm::Value*> Emitter::emit_frame(
    llvm::ArrayRef<llvm::AllocaInst*> variables, llvm::IRBuilder<>& builder) {
  llvm::Value* begin = nullptr;
  llvm::Value* end = nullptr;
  for (llvm::AllocaInst* variable : variables) {
    const auto size = variable->getAllocationSize(module_.getDataLayout());
    llvm::Value* first = builder.CreatePtrToInt(variable, builder.getInt64Ty());
    llvm::Value* last = builder.CreateAdd(
        first, builder.getInt64(size && !size->isScalable() ? size->getFixedValue() : 1));
    begin = begin == nullptr ? first
                             : builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, begin, first);
    end = end == nullptr ? last : builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, end, last);
  }
  return {builder.CreateIntToPtr(begin, builder.getPtrTy()), builder.CreateSub(end, begin)};
}

llvm::Value* Emitter::emit_size(const Site& site, llvm::IRBuilder<>& builder) {
  llvm::Value* given =
      site.size == nullptr ? nullptr : builder.CreateZExtOrTrunc(site.size, builder.getInt64Ty());
  if (site.strings[0] == nullptr) return given == nullptr ? builder.getInt64(0) : given;
  llvm::Value* const unlimited = builder.getInt64(~std::uint64_t{0});
  const auto size_of = [&](llvm::Value* string, llvm::Value* most) {
    return preserve_most_call(builder, hooks_.__clew_string_size, {string, most});
  };
  llvm::Value* const most = given == nullptr ? unlimited : given;
  if (site.strings[1] == nullptr) return size_of(site.strings[0], most);
  return builder.CreateAdd(size_of(site.strings[0], unlimited), size_of(site.strings[1], most));
}

llvm::CallInst* Emitter::emit_hook_call(const Site& site, Counted counted,
                                        llvm::IRBuilder<>& builder) {
  const bool counts = counted == Counted::kByHook;
  llvm::Constant* point = table_.address_of(site.index);
  if (site.address == nullptr)
    return preserve_most_call(builder, counts ? hooks_.__clew_yield_next : hooks_.__clew_yield,
                              {point});
  llvm::Value* address = rematerialise(site.address, builder);
  if (address->getType()->isVectorTy()) address = builder.CreateExtractElement(address, site.lane);
  llvm::Value* size = emit_size(site, builder);
  if (!site.variables.empty()) std::tie(address, size) = emit_frame(site.variables, builder);
  address = builder.CreatePointerBitCastOrAddrSpaceCast(address, builder.getPtrTy());
  if (weak_cas_of(site) == nullptr)
    if (llvm::FunctionCallee hook = sized_hook(counted, size))
      return preserve_most_call(builder, hook, {point, address});
  const llvm::FunctionCallee hook = weak_cas_of(site) != nullptr ? hooks_.__clew_yield_cas
                                    : counts                     ? hooks_.__clew_yield_access_next
                                                                 : hooks_.__clew_yield_access;
  return preserve_most_call(builder, hook, {point, address, size});
}

// The hook that has this size in its name, if there is one.
llvm::FunctionCallee Emitter::sized_hook(Counted counted, const llvm::Value* size) const {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(size);
  const bool counts = counted == Counted::kByHook;
  switch (constant == nullptr ? 0 : constant->getLimitedValue()) {
    case 1:
      return counts ? hooks_.__clew_yield_access_next_1 : hooks_.__clew_yield_access_1;
    case 4:
      return counts ? hooks_.__clew_yield_access_next_4 : hooks_.__clew_yield_access_4;
    case 8:
      return counts ? hooks_.__clew_yield_access_next_8 : hooks_.__clew_yield_access_8;
    case 16:
      return counts ? hooks_.__clew_yield_access_next_16 : hooks_.__clew_yield_access_16;
    default:
      return {};
  }
}

// Makes `cas` fail if `fails` says so, by changing nothing but an operand: the memory is read, and
// a value that it does not hold is expected. The instruction then stores nothing, results in the
// value in memory, and is ordered as a failure. Under clew nothing runs between the read and the
// instruction.
void Emitter::emit_failure(llvm::AtomicCmpXchgInst& cas, llvm::CallInst* fails,
                           llvm::BasicBlock* hot, llvm::IRBuilder<>& builder) {
  llvm::Value* expected = cas.getCompareOperand();
  llvm::LoadInst* found = builder.CreateAlignedLoad(expected->getType(),
                                                    rematerialise(cas.getPointerOperand(), builder),
                                                    cas.getAlign(), cas.isVolatile());
  found->setAtomic(llvm::AtomicOrdering::Monotonic, cas.getSyncScopeID());
  llvm::Value* chosen =
      builder.CreateSelect(builder.CreateIsNotNull(fails), other_than(found, builder), expected);
  llvm::PHINode* either = llvm::PHINode::Create(expected->getType(), 2, "", hot->begin());
  either->addIncoming(expected, hot->getSinglePredecessor());
  either->addIncoming(chosen, builder.GetInsertBlock());
  cas.setOperand(1, either);
}

// Emitted at the end of `at`. One instruction of the processor and a branch.
Count Emitter::emit_countdown(llvm::BasicBlock* at, std::size_t points, llvm::BasicBlock* cold,
                              llvm::BasicBlock* hot, const llvm::DebugLoc& location) {
  llvm::IRBuilder<> builder(at);
  builder.SetCurrentDebugLocation(location);
  llvm::CallInst* countdown = builder.CreateThreadLocalAddress(hooks_.__clew_countdown);
  llvm::LoadInst* load = builder.CreateLoad(builder.getInt64Ty(), countdown);
  llvm::Value* left = builder.CreateSub(load, builder.getInt64(points));
  llvm::StoreInst* store = builder.CreateStore(left, countdown);
  builder.CreateCondBr(builder.CreateICmpSLT(left, builder.getInt64(0)), cold, hot,
                       llvm::MDBuilder(module_.getContext()).createUnlikelyBranchWeights());
  return Count{load, store, nullptr};
}

Count Emitter::emit_gated(const Site& site, llvm::Instruction* before) {
  const llvm::DebugLoc location = debug_location(site);
  llvm::BasicBlock* head = before->getParent();
  llvm::BasicBlock* tail = head->splitBasicBlock(before->getIterator());
  head->getTerminator()->eraseFromParent();
  // Without optimisation blocks stay where they are, and begin by loading what was stored in others,
  // which has no line: a debugger takes that for the line of what is before it in memory. So what
  // is before it should be of the same line.
  llvm::BasicBlock* const next = head->getParent()->hasOptNone() ? tail : nullptr;
  llvm::BasicBlock* cold =
      llvm::BasicBlock::Create(module_.getContext(), "", head->getParent(), next);
  Count count = emit_countdown(head, 1, cold, tail, location);

  llvm::IRBuilder<> builder(cold);
  builder.SetCurrentDebugLocation(location);
  llvm::CallInst* call = emit_hook_call(site, Counted::kBefore, builder);
  if (llvm::AtomicCmpXchgInst* cas = weak_cas_of(site)) emit_failure(*cas, call, tail, builder);
  count.cold_end = builder.CreateBr(tail);
  return count;
}

Count Emitter::emit_batch(const Batch& batch) {
  const llvm::DebugLoc location = debug_location(batch.sites.front());
  const SplitBatch parts = split(batch);
  Count count = emit_countdown(parts.head, batch.sites.size(), parts.slow, parts.fast, location);

  llvm::IRBuilder<> builder(parts.slow, parts.slow->begin());
  builder.SetCurrentDebugLocation(debug_location(parts.slow_sites.front()));
  llvm::CallInst* address = builder.CreateThreadLocalAddress(hooks_.__clew_countdown);
  builder.CreateStore(builder.CreateAdd(builder.CreateLoad(builder.getInt64Ty(), address),
                                        builder.getInt64(batch.sites.size())),
                      address);
  count.cold_end = parts.slow->getTerminator();
  emit_slow(parts.slow_sites);
  return count;
}

// In order, so that of two points before one instruction the first comes first. A weak compare-exchange
// splits the block: what follows is then in another one, which changes nothing for the sites there.
void Emitter::emit_slow(llvm::ArrayRef<Site> sites) {
  for (const Site& site : sites) {
    if (weak_cas_of(site) != nullptr) {
      emit_gated(site, site.before);
      continue;
    }
    emit_counted(site, site.before);
  }
}

llvm::Instruction* Emitter::emit_counted(const Site& site, llvm::Instruction* before) {
  llvm::Instruction* const last = before->getPrevNode();
  llvm::IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(debug_location(site));
  emit_hook_call(site, Counted::kByHook, builder);
  return last != nullptr ? last->getNextNode() : &before->getParent()->front();
}

llvm::Instruction* Emitter::emit_spin(const Site& site, llvm::Instruction* before) {
  llvm::IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(debug_location(site));
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
std::vector<Count> Emitter::emit(llvm::ArrayRef<Site> sites, bool batch) {
  std::vector<Count> counts;
  llvm::DenseSet<const llvm::BasicBlock*> rare;
  if (batch) rare = find_rare_blocks(*sites.front().before->getFunction());
  const Site* last = nullptr;
  llvm::Instruction* first_emitted = nullptr;
  while (!sites.empty()) {
    const bool is_rare = rare.contains(sites.back().before->getParent());
    const Batch together = batch && !is_rare ? last_batch(sites, first_emitted) : Batch{};
    const Site& site = together.sites.empty() ? sites.back() : together.sites.front();
    llvm::Instruction* before =
        last != nullptr && site.before == last->before ? first_emitted : site.before;
    if (site.kind == PointKind::kPause) {
      first_emitted = emit_spin(site, before);
    } else if (site.kind == PointKind::kSyncCall) {
      first_emitted = emit_call_site(table_.address_of(site.index), before);
    } else if (is_rare && weak_cas_of(site) == nullptr) {
      first_emitted = emit_counted(site, before);
    } else {
      counts.push_back(together.sites.empty() ? emit_gated(site, before) : emit_batch(together));
      first_emitted = first_of(counts.back());
    }
    last = &site;
    sites = sites.drop_back(std::max<std::size_t>(together.sites.size(), 1));
  }
  return counts;
}

void Emitter::emit(llvm::Function& function, const Sites& sites) {
  // Of code that is there twice, a sanitizer's report would name one address or the other, depending
  // on whether somebody listens: a replay would not print what was recorded.
  const bool reports = function.hasFnAttribute(llvm::Attribute::SanitizeAddress);
  // It would not find uses of ended frames in a function with inline assembly, either.
  if (reports) {
    emit(sites, /*batch=*/false);
    return;
  }
  const auto exits = find_dirty_exits(function, sites);
  const std::vector<Count> counts = emit(sites, batch_);
  if (batch_) carry_countdown(function, counts);
  clear_leftovers(exits);
}

void Emitter::emit_silent(const Sites& calls) {
  llvm::Constant* number =
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(module_.getContext()), abi::kNoPointSite);
  llvm::Constant* point =
      llvm::ConstantExpr::getIntToPtr(number, llvm::PointerType::getUnqual(module_.getContext()));
  for (const Site& call : calls) emit_call_site(point, call.before);
}

}  // namespace clew::pass
