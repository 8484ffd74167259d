#include "pass/lines.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "pass/point_finder.h"
#include "pass/sharing.h"

namespace clew::pass {
namespace {

const char mixed_marker = 0;
const void* const kNone = nullptr;
const void* const kMixed = &mixed_marker;

bool is_bookkeeping(const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::eh_typeid_for:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::stackrestore:
    case llvm::Intrinsic::stacksave:
      return true;
    default:
      return call.isDebugOrPseudoInst() || call.isLifetimeStartOrEnd();
  }
}

bool belongs_to_landing_pad(const llvm::Instruction& instruction) {
  const auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction);
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    part = llvm::dyn_cast<llvm::ExtractValueInst>(store->getValueOperand());
  return part != nullptr && llvm::isa<llvm::LandingPadInst>(part->getAggregateOperand());
}

}  // namespace

void Lines::note_variables(llvm::BasicBlock& block) {
  for (llvm::Instruction& instruction : block) {
    if (const auto* declare = llvm::dyn_cast<llvm::DbgDeclareInst>(&instruction))
      variables_.insert(declare->getAddress());
    for (llvm::DbgVariableRecord& record : llvm::filterDbgVars(instruction.getDbgRecordRange()))
      if (record.isDbgDeclare()) variables_.insert(record.getAddress());
  }
}

bool Lines::starts_line(const llvm::Instruction& instruction) const {
  if (instruction.isTerminator())  // an invoke is a call, all others only branch
    return llvm::isa<llvm::CallBase>(instruction);
  if (llvm::isa<llvm::AllocaInst, llvm::PHINode>(instruction) || instruction.isEHPad())
    return false;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return !is_bookkeeping(*call);
  // The closing brace of an -O0 function loads the return value or where to clean up next.
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    if (llvm::isa<llvm::AllocaInst>(load->getPointerOperand()))
      return variables_.contains(load->getPointerOperand());
  return !is_parameter_spill(instruction) && !belongs_to_landing_pad(instruction);
}

Lines::Line Lines::line_of(const llvm::Instruction& instruction) {
  return starts_line(instruction) ? locations_.line_of(instruction) : kNone;
}

Lines::Line Lines::line_before(const llvm::BasicBlock& block) const {
  if (block.isEntryBlock()) return kMixed;
  Line result = kNone;
  for (const llvm::BasicBlock* predecessor : llvm::predecessors(&block)) {
    const Line line = last_.lookup(predecessor);
    if (line == kNone || line == result) continue;
    if (result != kNone) return kMixed;
    result = line;
  }
  return result;
}

Lines::Lines(Locations& locations, llvm::ArrayRef<llvm::BasicBlock*> blocks)
    : locations_(locations) {
  for (llvm::BasicBlock* block : blocks) note_variables(*block);
  llvm::DenseSet<const llvm::BasicBlock*> transparent;
  for (llvm::BasicBlock* block : blocks) {
    Line last = kNone;
    for (const llvm::Instruction& instruction : *block)
      if (const Line line = line_of(instruction); line != kNone) last = line;
    if (last != kNone)
      last_[block] = last;
    else
      transparent.insert(block);
  }
  // Values only rise from none over a line to mixed, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (const llvm::BasicBlock* block : blocks) {
      if (!transparent.contains(block)) continue;
      const Line line = line_before(*block);
      if (last_.lookup(block) == line) continue;
      last_[block] = line;
      changed = true;
    }
  }
}

void Lines::add(llvm::BasicBlock& block, Sites& sites) {
  Sites result;
  const Site* next_site = sites.begin();
  const Line before = line_before(block);
  Line current = before == kNone ? kMixed : before;
  llvm::Instruction* open = nullptr;  // the first instruction of a run that has no point yet
  const auto close = [&] {
    if (open != nullptr) result.push_back(Site{open, abi::PointKind::kLine});
    open = nullptr;
  };
  for (llvm::Instruction& instruction : block) {
    if (const Line line = line_of(instruction); line != kNone && line != current) {
      close();
      current = line;
      open = &instruction;
    }
    if (next_site != sites.end() && next_site->before == &instruction)
      open = nullptr;
    else if (is_plain_call(instruction))
      close();
    for (; next_site != sites.end() && next_site->before == &instruction; ++next_site)
      result.push_back(*next_site);
  }
  close();
  sites = std::move(result);
}

}  // namespace clew::pass
