#include "host/names/scopes.h"

#include <algorithm>

#include "host/names/dwarf_file.h"

namespace clew {
namespace {

namespace dwarf = llvm::dwarf;
using llvm::DWARFDie;

constexpr std::size_t kMostVariables = 10'000;

bool is_variable(const DWARFDie& die) {
  return die.getTag() == dwarf::DW_TAG_variable || die.getTag() == dwarf::DW_TAG_formal_parameter;
}

class Collector {
 public:
  explicit Collector(std::uint64_t pc) : pc_(pc) {}

  // The blocks that `pc` is in, the innermost first, then the scope's own.
  void collect(const DWARFDie& block, const DWARFDie& scope, const DWARFDie& function) {
    for (const DWARFDie& child : block.children())
      if (child.getTag() == dwarf::DW_TAG_lexical_block && child.addressRangeContainsAddress(pc_))
        collect(child, scope, function);
    for (const DWARFDie& child : block.children()) {
      if (!is_variable(child) || found.size() >= kMostVariables) continue;
      // "extern int x;" within a function
      if (flag_of(child, dwarf::DW_AT_declaration)) continue;
      found.push_back({child, scope, function});
      if (const DWARFDie origin =
              child.getAttributeValueAsReferencedDie(dwarf::DW_AT_abstract_origin))
        origins_.push_back(origin);
    }
  }

  // What the function has in the source, and this copy of it has not any more.
  void add_vanished(const DWARFDie& scope, const DWARFDie& function) {
    const DWARFDie origin = scope.getAttributeValueAsReferencedDie(dwarf::DW_AT_abstract_origin);
    if (!origin) return;
    for (const DWARFDie& child : origin.children())
      if (is_variable(child) && found.size() < kMostVariables &&
          std::ranges::find(origins_, child) == origins_.end() &&
          !flag_of(child, dwarf::DW_AT_declaration))
        found.push_back({child, scope, function});
  }

  std::vector<ScopedVariable> found;

 private:
  std::uint64_t pc_;
  std::vector<DWARFDie> origins_;
};

}  // namespace

std::vector<ScopedVariable> variables_of_other_blocks(llvm::DWARFUnit& unit, std::uint64_t pc) {
  llvm::SmallVector<DWARFDie, 4> chain;
  unit.getInlinedChainForAddress(pc, chain);
  if (chain.empty()) return {};
  const DWARFDie function = chain.back();
  std::vector<ScopedVariable> found;
  struct Block {
    DWARFDie die;
    bool is_other;
  };
  std::vector<Block> open{{function, false}};
  while (!open.empty() && found.size() < kMostVariables) {
    const Block block = open.back();
    open.pop_back();
    for (const DWARFDie& child : block.die.children()) {
      if (child.getTag() == dwarf::DW_TAG_lexical_block)
        open.push_back({child, block.is_other || !child.addressRangeContainsAddress(pc)});
      else if (block.is_other && is_variable(child) && !flag_of(child, dwarf::DW_AT_declaration))
        found.push_back({child, function, function});
    }
  }
  return found;
}

bool has_fixed_places(llvm::DWARFUnit& unit) {
  for (const llvm::DWARFDebugInfoEntry& entry : unit.dies()) {
    const DWARFDie die(&unit, &entry);
    if (!is_variable(die)) continue;
    const auto location = die.find(dwarf::DW_AT_location);
    if (location && !location->isFormClass(llvm::DWARFFormValue::FC_Exprloc) &&
        !location->isFormClass(llvm::DWARFFormValue::FC_Block))
      return false;
  }
  return true;
}

std::vector<ScopedVariable> variables_in_scope(llvm::DWARFUnit& unit, std::uint64_t pc) {
  llvm::SmallVector<DWARFDie, 4> chain;
  unit.getInlinedChainForAddress(pc, chain);
  if (chain.empty()) return {};
  const DWARFDie function = chain.back();
  Collector collector(pc);
  for (const DWARFDie& scope : chain) {
    collector.collect(scope, scope, function);
    collector.add_vanished(scope, function);
  }
  return std::move(collector.found);
}

}  // namespace clew
