#include "pass/batch.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace clew::pass {
namespace {

using abi::PointKind;

// Limits the growth of the code and the time to compile it.
constexpr unsigned kMaxInstructions = 300;

bool is_counted(const Site& site) {
  return site.kind != PointKind::kPause && site.kind != PointKind::kSyncCall;
}

// Intrinsics that return and pass no point: inline code, or libc's memcpy and sin.
bool is_harmless_call(const llvm::CallBase& call) {
  if (!llvm::isa<llvm::IntrinsicInst>(call) || call.cannotDuplicate() || call.isConvergent())
    return false;
  if (!call.doesNotThrow() || call.hasFnAttr(llvm::Attribute::ReturnsTwice)) return false;
  switch (llvm::cast<llvm::IntrinsicInst>(call).getIntrinsicID()) {
    case llvm::Intrinsic::stacksave:
    case llvm::Intrinsic::stackrestore:
    case llvm::Intrinsic::localescape:
    case llvm::Intrinsic::x86_sse2_pause:
      return false;
    case llvm::Intrinsic::x86_sse2_mfence:
      return true;
    default:
      return call.hasFnAttr(llvm::Attribute::WillReturn);
  }
}

// What can be part of a batch, and so be copied.
bool fits(const llvm::Instruction& instruction) {
  if (instruction.isTerminator() || instruction.isEHPad() || instruction.getType()->isTokenTy())
    return false;
  if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction)) return false;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call == nullptr || is_harmless_call(*call);
}

// The instructions of a batch, in order, and what is known of them.
class Members {
 public:
  explicit Members(const Batch& batch) : batch_(batch) {
    for (llvm::Instruction* at = batch.sites.front().before; at != batch.end;
         at = at->getNextNode())
      set_.insert(at);
    for (const Site& site : batch.sites) {
      fixed_.insert(site.before);
      for (llvm::Value* value : {site.address, site.size, site.strings[0], site.strings[1]})
        if (value != nullptr) arguments_.insert(value);
    }
  }

  // Sinks what is only used later below the batch: the induction variable of a loop and the
  // condition of a branch then stay as simple as they were.
  void sink();
  // Hoists what is used both in the batch and later above it, where that is possible.
  void hoist();
  llvm::ArrayRef<llvm::Instruction*> get() const { return order_; }
  void settle() {
    for (llvm::Instruction* at = batch_.sites.front().before; at != batch_.end;
         at = at->getNextNode())
      if (set_.contains(at)) order_.push_back(at);
  }

 private:
  bool contains(const llvm::Value* value) const { return set_.contains(value); }
  bool is_movable(const llvm::Instruction& instruction) const {
    return !fixed_.contains(&instruction) && !instruction.mayReadOrWriteMemory() &&
           !llvm::isa<llvm::CallBase>(instruction) &&
           llvm::isSafeToSpeculativelyExecute(&instruction);
  }
  bool is_used_inside(const llvm::Instruction& instruction) const {
    return arguments_.contains(&instruction) ||
           llvm::any_of(instruction.users(),
                        [this](const llvm::User* user) { return contains(user); });
  }
  bool is_used_outside(const llvm::Instruction& instruction) const {
    return !llvm::all_of(instruction.users(),
                         [this](const llvm::User* user) { return contains(user); });
  }
  unsigned new_results(const llvm::Instruction& instruction) const;

  const Batch& batch_;
  llvm::DenseSet<const llvm::Value*> set_;
  llvm::DenseSet<const llvm::Value*> fixed_;      // a point comes directly before it
  llvm::DenseSet<const llvm::Value*> arguments_;  // of hooks
  llvm::SmallVector<llvm::Instruction*, 32> order_;
};

// How many more values leave the batch if `instruction` does not take part in it.
unsigned Members::new_results(const llvm::Instruction& instruction) const {
  llvm::SmallPtrSet<const llvm::Value*, 4> results;
  for (const llvm::Value* operand : instruction.operand_values())
    if (contains(operand) && !is_used_outside(*llvm::cast<llvm::Instruction>(operand)))
      results.insert(operand);
  return results.size();
}

void Members::sink() {
  llvm::Instruction* before = batch_.end;
  for (llvm::Instruction* at = batch_.end; at != batch_.sites.front().before;) {
    llvm::Instruction* instruction = at->getPrevNode();
    at = instruction;
    if (!is_movable(*instruction) || is_used_inside(*instruction)) continue;
    if (!llvm::isa<llvm::CmpInst>(instruction) && new_results(*instruction) > 1) continue;
    if (llvm::Instruction* next = instruction->getNextNode(); next != before) {
      instruction->moveBefore(before);
      at = next;
    }
    set_.erase(instruction);
    before = instruction;
  }
}

void Members::hoist() {
  llvm::Instruction* const first = batch_.sites.front().before;
  for (llvm::Instruction *at = first, *next = nullptr; at != batch_.end; at = next) {
    next = at->getNextNode();
    if (!contains(at) || !is_movable(*at) || !is_used_outside(*at)) continue;
    if (llvm::any_of(at->operand_values(),
                     [this](const llvm::Value* operand) { return contains(operand); }))
      continue;
    at->moveBefore(first);
    set_.erase(at);
  }
}

// The copy of a line is in a block of its own for the debugger: of several places of one line in one
// block, gdb stops at the first alone.
class CopiedScopes {
 public:
  llvm::DebugLoc copy_of(const llvm::DebugLoc& location) {
    if (!location) return location;
    auto* scope = llvm::cast<llvm::DILocalScope>(location.getScope());
    llvm::DILocalScope*& copy = copies_[scope];
    if (copy == nullptr)
      copy = llvm::DILexicalBlock::getDistinct(location->getContext(), scope, location->getFile(),
                                               location.getLine(), location.getCol());
    return llvm::DILocation::get(location->getContext(), location.getLine(), location.getCol(),
                                 copy, location.getInlinedAt());
  }

 private:
  llvm::DenseMap<llvm::DILocalScope*, llvm::DILocalScope*> copies_;
};

void copy_to(llvm::BasicBlock* slow, llvm::ArrayRef<llvm::Instruction*> members,
             llvm::ValueToValueMapTy& copies) {
  const llvm::RemapFlags flags = llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals;
  CopiedScopes scopes;
  for (llvm::Instruction* member : members) {
    llvm::Instruction* copy = member->clone();
    copy->setDebugLoc(scopes.copy_of(member->getDebugLoc()));
    copy->insertInto(slow, slow->end());
    copy->cloneDebugInfoFrom(member);
    copies[member] = copy;
    llvm::RemapInstruction(copy, copies, flags);
    llvm::RemapDbgRecordRange(slow->getModule(), copy->getDbgRecordRange(), copies, flags);
  }
}

// A debugger cannot find a value in `tail` that only one of the two paths computes.
void forget_outside(llvm::Instruction* value, const llvm::BasicBlock* block) {
  llvm::SmallVector<llvm::DbgVariableIntrinsic*, 2> intrinsics;
  llvm::SmallVector<llvm::DbgVariableRecord*, 2> records;
  llvm::findDbgUsers(intrinsics, value, &records);
  for (llvm::DbgVariableRecord* record : records)
    if (record->getParent() != block) record->setKillLocation();
}

void merge_results(llvm::ArrayRef<llvm::Instruction*> members,
                   const llvm::ValueToValueMapTy& copies, llvm::BasicBlock* fast,
                   llvm::BasicBlock* slow, llvm::BasicBlock* tail) {
  for (llvm::Instruction* member : members) {
    if (member->getType()->isVoidTy()) continue;
    if (!member->isUsedOutsideOfBlock(fast)) {
      forget_outside(member, fast);
      continue;
    }
    llvm::PHINode* either = llvm::PHINode::Create(member->getType(), 2, "", tail->begin());
    member->replaceUsesOutsideBlock(either, fast);
    either->addIncoming(member, fast);
    either->addIncoming(copies.lookup(member), slow);
  }
}

}  // namespace

Batch last_batch(llvm::ArrayRef<Site> sites, const llvm::Instruction* stop) {
  const Batch none{{}, nullptr};
  if (sites.size() < 2 || !is_counted(sites.back())) return none;
  const llvm::BasicBlock* block = sites.back().before->getParent();
  llvm::Instruction* at = sites.back().before;
  std::size_t first = sites.size() - 1;
  unsigned length = 0;
  for (;;) {
    while (first > 0 && sites[first - 1].before == at && is_counted(sites[first - 1])) --first;
    if (first == 0 || sites[first - 1].before->getParent() != block) break;
    if (sites[first - 1].before == at) break;  // not a counted one
    llvm::Instruction* next = at;
    unsigned distance = 0;
    do {
      next = next->getPrevNode();
      ++distance;
    } while (fits(*next) && next != sites[first - 1].before);
    if (!fits(*next) || !is_counted(sites[first - 1]) || length + distance > kMaxInstructions)
      break;
    length += distance;
    at = next;
  }
  if (sites.size() - first < 2) return none;
  llvm::Instruction* end = sites.back().before;
  while (end != stop && fits(*end) && length++ < kMaxInstructions) end = end->getNextNode();
  return Batch{sites.drop_front(first), end};
}

SplitBatch split(const Batch& batch) {
  Members members(batch);
  members.sink();
  members.hoist();
  members.settle();
  llvm::BasicBlock* head = batch.end->getParent();
  // What was sunk is directly before the end.
  llvm::Instruction* first = batch.sites.front().before;
  llvm::Instruction* behind = members.get().empty() ? first : members.get().back()->getNextNode();
  llvm::BasicBlock* tail = head->splitBasicBlock(behind->getIterator());
  llvm::BasicBlock* fast = head->splitBasicBlock(
      members.get().empty() ? head->getTerminator()->getIterator() : first->getIterator());
  head->getTerminator()->eraseFromParent();
  llvm::BasicBlock* slow = llvm::BasicBlock::Create(head->getContext(), "", head->getParent());

  llvm::ValueToValueMapTy copies;
  copy_to(slow, members.get(), copies);
  llvm::Instruction* slow_end = llvm::BranchInst::Create(tail, slow);
  slow_end->setDebugLoc(fast->getTerminator()->getDebugLoc());
  merge_results(members.get(), copies, fast, slow, tail);

  const auto copy_of = [&copies](llvm::Value* value) -> llvm::Value* {
    llvm::Value* copy = value == nullptr ? nullptr : copies.lookup(value);
    return copy == nullptr ? value : copy;
  };
  SplitBatch result{head, fast, slow, {}};
  for (Site site : batch.sites) {
    site.before =
        site.before == batch.end ? slow_end : llvm::cast<llvm::Instruction>(copy_of(site.before));
    site.address = copy_of(site.address);
    site.size = copy_of(site.size);
    for (llvm::Value*& string : site.strings) string = copy_of(string);
    result.slow_sites.push_back(site);
  }
  return result;
}

}  // namespace clew::pass
