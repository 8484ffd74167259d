// What a call of the allocator allocates, as far as the code around the call says it.
#include <algorithm>
#include <string_view>

#include "host/names/module_impl.h"

namespace clew {
namespace {

namespace dwarf = llvm::dwarf;
using llvm::DWARFDie;

constexpr int kMostSteps = 100;

// Where a function was declared: a member's class is the parent of that.
DWARFDie declaration_of(DWARFDie function) {
  for (int steps = 0; steps < kMostSteps; ++steps) {
    DWARFDie other = function.getAttributeValueAsReferencedDie(dwarf::DW_AT_abstract_origin);
    if (!other) other = function.getAttributeValueAsReferencedDie(dwarf::DW_AT_specification);
    if (!other) break;
    function = other;
  }
  return function;
}

bool is_class(const DWARFDie& die) {
  return die &&
         (die.getTag() == dwarf::DW_TAG_class_type || die.getTag() == dwarf::DW_TAG_structure_type);
}

// "vector" of "vector<int>"
std::string_view without_arguments(std::string_view name) { return name.substr(0, name.find('<')); }

// Of a template, too: "Box<int>".
bool is_constructor(const DWARFDie& declared) {
  const DWARFDie parent = declared.getParent();
  return is_class(parent) &&
         without_arguments(name_of(declared)) == without_arguments(name_of(parent));
}

}  // namespace

std::optional<AllocatingCode> ModuleNames::allocating_code(std::uint64_t pc) {
  llvm::DWARFUnit* unit = impl_->file->unit_at(pc);
  if (unit == nullptr) return std::nullopt;
  llvm::SmallVector<DWARFDie, 4> chain;
  unit->getInlinedChainForAddress(pc, chain);
  AllocatingCode code;
  for (const DWARFDie& function : chain) {
    const DWARFDie declared = declaration_of(function);
    const std::string name = impl_->file->qualified_name(declared);
    // "std::vector<...>::push_back" as well as "std::make_unique"
    if (!name.starts_with("std::") && !name.starts_with("__gnu_cxx::") &&
        !name.starts_with("operator new")) {
      code.ends_in_library = false;
      return code;
    }
    const DWARFDie parent = declared.getParent();
    if (!is_class(parent) || name_of(declared) != "allocate" || code.element != nullptr) continue;
    const std::string_view allocator = without_arguments(name_of(parent));
    if (allocator != "__new_allocator" && allocator != "new_allocator" && allocator != "allocator")
      continue;
    const Type* type = impl_->file->type_at(parent);
    if (type != nullptr && !type->arguments().empty()) code.element = type->arguments()[0].type;
  }
  return code;
}

const Type* ModuleNames::constructed_by(std::uint64_t entry) {
  llvm::DWARFUnit* unit = impl_->file->unit_at(entry);
  if (unit == nullptr) return nullptr;
  const DWARFDie function = unit->getSubroutineForAddress(entry);
  if (!function) return nullptr;
  const DWARFDie declared = declaration_of(function);
  if (!is_constructor(declared)) return nullptr;
  return impl_->file->type_at(declared.getParent());
}

std::vector<const Type*> ModuleNames::constructed_near(std::uint64_t pc) {
  llvm::DWARFUnit* unit = impl_->file->unit_at(pc);
  if (unit == nullptr) return {};
  llvm::SmallVector<DWARFDie, 4> chain;
  unit->getInlinedChainForAddress(pc, chain);
  const auto line = line_at(pc);
  if (chain.empty() || line == 0) return {};
  // Constructors that are inlined where the innermost function has this line.
  std::vector<const Type*> found;
  std::vector<DWARFDie> open{chain.front()};
  for (std::size_t looked = 0; !open.empty() && looked < 10'000; ++looked) {
    const DWARFDie at = open.back();
    open.pop_back();
    for (const DWARFDie& child : at.children()) {
      if (child.getTag() == dwarf::DW_TAG_lexical_block) open.push_back(child);
      if (child.getTag() != dwarf::DW_TAG_inlined_subroutine ||
          unsigned_of(child, dwarf::DW_AT_call_line) != line)
        continue;
      const DWARFDie declared = declaration_of(child);
      if (!is_constructor(declared)) continue;
      const Type* type = impl_->file->type_at(declared.getParent());
      if (type != nullptr && std::ranges::find(found, type) == found.end()) found.push_back(type);
    }
  }
  return found;
}

std::uint32_t ModuleNames::line_at(std::uint64_t pc) {
  llvm::DWARFUnit* unit = impl_->file->unit_at(pc);
  if (unit == nullptr) return 0;
  llvm::DWARFUnit* lines = unit->getLinkedUnit() != nullptr ? unit->getLinkedUnit() : unit;
  const auto* table = impl_->file->context().getLineTableForUnit(lines);
  if (table == nullptr) return 0;
  const std::uint32_t row =
      table->lookupAddress({pc, llvm::object::SectionedAddress::UndefSection});
  return row == table->UnknownRowIndex || row >= table->Rows.size() ? 0 : table->Rows[row].Line;
}

}  // namespace clew
