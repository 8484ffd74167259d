#include "pass/placement.h"

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"
#include "pass/lines.h"
#include "pass/point_finder.h"

namespace clew::pass {
namespace {

using abi::PointKind;
using Blocks = std::vector<llvm::BasicBlock*>;
using BlockSet = llvm::DenseSet<const llvm::BasicBlock*>;

// A block that is split must not leave static allocas in its second half: they would become
// dynamic.
void hoist_static_allocas(llvm::Function& function) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  auto top = entry.begin();
  while (llvm::isa<llvm::AllocaInst>(*top)) ++top;
  for (llvm::Instruction& instruction :
       llvm::make_early_inc_range(llvm::make_range(top, entry.end())))
    if (auto* slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction); slot && slot->isStaticAlloca())
      slot->moveBefore(entry, top);
}

bool is_used_elsewhere(const llvm::Instruction& instruction) {
  return instruction.isUsedOutsideOfBlock(instruction.getParent());
}

// Stored, it is not part of the store's own address, and takes code unless it is that of another
// object.
bool is_stored(const llvm::Instruction& address) {
  const auto* member = llvm::dyn_cast<llvm::GetElementPtrInst>(&address);
  if (member == nullptr || member->hasAllZeroIndices()) return false;
  return llvm::any_of(address.users(), [&](const llvm::User* user) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return store != nullptr && store->getValueOperand() == &address;
  });
}

// Without optimisation, an address is computed where it is written down, even if its use is behind
// a point and so in another block: the code would begin with another line than it does without
// points.
void sink_addresses(llvm::Function& function) {
  if (!function.hasOptNone()) return;
  llvm::SmallVector<llvm::GetElementPtrInst*, 16> addresses;
  for (llvm::Instruction& instruction : function.getEntryBlock())
    if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
      addresses.push_back(address);
  // The last first: it may use the one before.
  for (llvm::GetElementPtrInst* address : llvm::reverse(addresses)) {
    if (!address->hasOneUse() || is_used_elsewhere(*address) || is_stored(*address)) continue;
    auto* user = llvm::cast<llvm::Instruction>(address->user_back());
    if (llvm::isa<llvm::PHINode>(user)) continue;
    address->moveBefore(user);
    address->setDebugLoc(user->getDebugLoc());
  }
}

// What is part of another instruction, or tells the optimiser something, or -O0's load of a
// variable that is named and not used: no instruction of the processor has its line.
bool makes_no_code(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::AllocaInst, llvm::PHINode>(instruction)) return true;
  if (llvm::isa<llvm::GetElementPtrInst, llvm::BitCastInst, llvm::IntToPtrInst, llvm::PtrToIntInst>(
          instruction))
    return !is_used_elsewhere(instruction) && !is_stored(instruction);
  if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) return true;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    if (call->isAssumeLikeIntrinsic()) return true;
  return instruction.use_empty() && llvm::wouldInstructionBeTriviallyDead(&instruction);
}

bool has_line(const llvm::Instruction& instruction) {
  const llvm::DebugLoc& location = instruction.getDebugLoc();
  return location && location.getLine() != 0;
}

// Where the point of a function's entry goes: behind what a debugger skips when it is told to stop
// at the function, that is, before the first instruction that has a line. Without optimisation,
// the parameters are stored before it. Never behind a point or a call.
llvm::Instruction& behind_prologue(llvm::Function& function, const Sites& sites) {
  auto at = function.getEntryBlock().begin();
  const llvm::Instruction* const first_point = sites.empty() ? nullptr : sites.front().before;
  const auto is_prologue = [&](const llvm::Instruction& instruction) {
    if (&instruction == first_point || instruction.isTerminator()) return false;
    return makes_no_code(instruction) || (!has_line(instruction) && !is_plain_call(instruction));
  };
  while (is_prologue(*at)) ++at;
  return *at;
}

// Whether a call can be reached from the entry before any point.
bool calls_before_point(llvm::Function& function,
                        const llvm::DenseSet<const llvm::Instruction*>& points) {
  llvm::SmallVector<llvm::BasicBlock*, 16> work{&function.getEntryBlock()};
  BlockSet seen{&function.getEntryBlock()};
  while (!work.empty()) {
    llvm::BasicBlock* block = work.pop_back_val();
    bool passes = true;
    for (const llvm::Instruction& instruction : *block) {
      passes = !points.contains(&instruction);
      if (!passes) break;
      if (is_plain_call(instruction)) return true;
    }
    if (!passes) continue;
    for (llvm::BasicBlock* next : llvm::successors(block))
      if (seen.insert(next).second) work.push_back(next);
  }
  return false;
}

// The blocks whose ends close a cycle without a point. A depth-first walk of the graph
// without the blocks that have one, from each block in reverse post-order: in reducible code the
// first block of a cycle that it meets is the loop's header, so that what closes the cycle is the
// loop's back edge.
BlockSet find_bare_latches(const Blocks& blocks, const BlockSet& with_point) {
  enum class State { kNew, kOpen, kDone };
  struct Step {
    llvm::BasicBlock* block;
    llvm::succ_iterator next;
  };
  BlockSet latches;
  llvm::DenseMap<llvm::BasicBlock*, State> states;
  std::vector<Step> path;
  const auto enter = [&](llvm::BasicBlock* block) {
    states[block] = State::kOpen;
    path.push_back(Step{block, llvm::succ_begin(block)});
  };
  for (llvm::BasicBlock* root : blocks) {
    if (with_point.contains(root) || states.lookup(root) != State::kNew) continue;
    enter(root);
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next == llvm::succ_end(step.block)) {
        states[step.block] = State::kDone;
        path.pop_back();
        continue;
      }
      llvm::BasicBlock* block = step.block;
      llvm::BasicBlock* next = *step.next++;
      if (with_point.contains(next)) continue;
      const State state = states.lookup(next);
      if (state == State::kNew) enter(next);
      if (state == State::kOpen) latches.insert(block);
    }
  }
  return latches;
}

bool wants_entry(llvm::Function& function, Granularity granularity, Locations& locations,
                 llvm::ArrayRef<Sites> sites) {
  if (granularity == Granularity::kSync) return false;
  if (granularity == Granularity::kLine) {
    // Line 0: code that only the compiler wrote, such as _GLOBAL__sub_I_<file>.
    const llvm::DISubprogram* subprogram = function.getSubprogram();
    return !locations.is_system(function) && (subprogram == nullptr || subprogram->getLine() != 0);
  }
  llvm::DenseSet<const llvm::Instruction*> points;
  for (const Sites& of_block : sites)
    for (const Site& site : of_block) points.insert(site.before);
  return calls_before_point(function, points);
}

}  // namespace

Sites place_points(llvm::Function& function, Granularity granularity, Locations& locations,
                   ThreadLocals& thread_locals) {
  hoist_static_allocas(function);
  sink_addresses(function);
  // Reachable blocks only: in the others values may be defined by themselves.
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  const Blocks blocks(order.begin(), order.end());

  PointFinder finder(granularity, function, thread_locals);
  std::vector<Sites> sites(blocks.size());
  for (const auto [block, of_block] : llvm::zip_equal(blocks, sites))
    for (llvm::Instruction& instruction : *block) finder.collect(instruction, of_block);

  if (granularity == Granularity::kLine && !locations.is_system(function)) {
    Lines lines(locations, blocks);
    for (const auto [block, of_block] : llvm::zip_equal(blocks, sites)) lines.add(*block, of_block);
  }
  if (wants_entry(function, granularity, locations, sites))
    sites.front().insert(sites.front().begin(),
                         Site{&behind_prologue(function, sites.front()), PointKind::kEntry});
  Sites result;
  BlockSet with_point;
  for (const auto [block, of_block] : llvm::zip_equal(blocks, sites))
    if (!of_block.empty()) with_point.insert(block);
  BlockSet latches;
  if (granularity != Granularity::kSync) latches = find_bare_latches(blocks, with_point);
  for (const auto [block, of_block] : llvm::zip_equal(blocks, sites)) {
    result.append(of_block);
    if (latches.contains(block))
      result.push_back(Site{block->getTerminator(), PointKind::kBackEdge});
  }
  return result;
}

Sites place_silent_calls(llvm::Function& function) {
  Sites result;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : block)
      if (is_sync_call(instruction)) result.push_back(Site{&instruction, PointKind::kSyncCall});
  return result;
}

}  // namespace clew::pass
