#include "host/names/dwarf_file.h"

#include <fmt/format.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/Support/Error.h>

#include <algorithm>
#include <utility>

namespace clew {
namespace {

namespace dwarf = llvm::dwarf;
using llvm::DWARFDie;

// Of entries within entries. LLVM follows them by recursion; compilers stay far below.
constexpr std::uint32_t kMostNesting = 500;
// Of typedefs of typedefs, pointers to pointers, scopes in scopes.
constexpr int kMostSteps = 100;
constexpr std::size_t kMostParts = 10'000;
constexpr std::size_t kMostName = 4'000;

bool is_record(dwarf::Tag tag) {
  return tag == dwarf::DW_TAG_structure_type || tag == dwarf::DW_TAG_class_type ||
         tag == dwarf::DW_TAG_union_type;
}

// What says something about a type without being another.
bool is_transparent(dwarf::Tag tag) {
  switch (tag) {
    case dwarf::DW_TAG_typedef:
    case dwarf::DW_TAG_const_type:
    case dwarf::DW_TAG_volatile_type:
    case dwarf::DW_TAG_restrict_type:
    case dwarf::DW_TAG_atomic_type:
    case dwarf::DW_TAG_immutable_type:
    case dwarf::DW_TAG_template_alias:
      return true;
    default:
      return false;
  }
}

Type::Kind base_kind(const DWARFDie& die) {
  switch (unsigned_of(die, dwarf::DW_AT_encoding).value_or(0)) {
    case dwarf::DW_ATE_boolean:
      return Type::Kind::kBool;
    case dwarf::DW_ATE_float:
      return Type::Kind::kFloat;
    case dwarf::DW_ATE_signed:
      return Type::Kind::kSigned;
    case dwarf::DW_ATE_signed_char:
    case dwarf::DW_ATE_unsigned_char:
    case dwarf::DW_ATE_UTF:
    case dwarf::DW_ATE_ASCII:
    case dwarf::DW_ATE_UCS:
      return Type::Kind::kCharacter;
    case dwarf::DW_ATE_unsigned:
    case dwarf::DW_ATE_address:
      return Type::Kind::kUnsigned;
    default:
      return Type::Kind::kUnknown;
  }
}

Type::Kind kind_of(const DWARFDie& die) {
  switch (die.getTag()) {
    case dwarf::DW_TAG_base_type:
      return base_kind(die);
    case dwarf::DW_TAG_pointer_type:
      return Type::Kind::kPointer;
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
      return Type::Kind::kReference;
    case dwarf::DW_TAG_array_type:
      return Type::Kind::kArray;
    case dwarf::DW_TAG_structure_type:
    case dwarf::DW_TAG_class_type:
      return Type::Kind::kRecord;
    case dwarf::DW_TAG_union_type:
      return Type::Kind::kUnion;
    case dwarf::DW_TAG_enumeration_type:
      return Type::Kind::kEnum;
    default:
      return Type::Kind::kUnknown;
  }
}

// The elements of each dimension, as far as they are known.
std::vector<std::optional<std::uint64_t>> dimensions_of(const DWARFDie& array) {
  std::vector<std::optional<std::uint64_t>> result;
  for (const DWARFDie& child : array.children()) {
    if (child.getTag() != dwarf::DW_TAG_subrange_type) continue;
    auto count = unsigned_of(child, dwarf::DW_AT_count);
    if (!count) {
      const auto bound = unsigned_of(child, dwarf::DW_AT_upper_bound);
      if (bound && *bound < UINT32_MAX) count = *bound + 1;
    }
    result.push_back(count);
    if (result.size() == 16) break;
  }
  if (result.empty()) result.emplace_back();
  return result;
}

// The class of a lambda, if the function is its body.
DWARFDie lambda_of(DWARFDie function) {
  if (name_of(function) != "operator()") return {};
  for (int steps = 0; steps < kMostSteps; ++steps) {
    const DWARFDie declared = function.getAttributeValueAsReferencedDie(dwarf::DW_AT_specification);
    if (!declared) break;
    function = declared;
  }
  const DWARFDie parent = function.getParent();
  if (!parent || !is_record(parent.getTag())) return {};
  const std::string_view name = name_of(parent);
  return name.empty() || name.starts_with("<lambda") ? parent : DWARFDie();
}

}  // namespace

std::string_view name_of(const DWARFDie& die) {
  const char* name = die.getShortName();
  return name == nullptr ? std::string_view() : std::string_view(name).substr(0, kMostName);
}

std::optional<std::uint64_t> unsigned_of(const DWARFDie& die, dwarf::Attribute what) {
  const auto value = die.find(what);
  if (!value) return std::nullopt;
  if (const auto plain = value->getAsUnsignedConstant()) return plain;
  if (const auto with_sign = value->getAsSignedConstant(); with_sign && *with_sign >= 0)
    return static_cast<std::uint64_t>(*with_sign);
  return std::nullopt;
}

bool flag_of(const DWARFDie& die, dwarf::Attribute what) {
  return unsigned_of(die, what).value_or(0) != 0;
}

Result<std::unique_ptr<DwarfFile>> DwarfFile::open(const std::string& path) {
  auto object = llvm::object::ObjectFile::createObjectFile(path);
  if (!object) {
    const std::string why = llvm::toString(object.takeError());
    return fail(ErrorCode::kBadInput, fmt::format("cannot read '{}': {}", path, why));
  }
  if (object->getBinary()->getArch() != llvm::Triple::x86_64)
    return fail(ErrorCode::kBadInput, fmt::format("'{}' is not for x86-64", path));
  std::unique_ptr<DwarfFile> file(new DwarfFile);
  file->object_ = std::move(*object);
  // What is wrong with it shows in what is missing.
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  file->context_ = llvm::DWARFContext::create(*file->object_.getBinary(),
                                              llvm::DWARFContext::ProcessDebugRelocations::Ignore,
                                              nullptr, "", ignore, ignore);
  return file;
}

bool DwarfFile::is_sound(llvm::DWARFUnit& unit) {
  const auto [entry, added] = sound_.try_emplace(&unit, false);
  if (!added) return entry->second;
  if (unit.getAddressByteSize() != 8) return false;
  std::vector<std::uint32_t> depth;
  depth.reserve(unit.getNumDIEs());
  for (std::uint32_t i = 0; i < unit.getNumDIEs(); ++i) {
    const auto parent = unit.getDIEAtIndex(i).getDebugInfoEntry()->getParentIdx();
    if (parent && *parent >= i) return false;
    depth.push_back(parent ? depth[*parent] + 1 : 0);
    if (depth.back() > kMostNesting) return false;
  }
  return entry->second = true;
}

std::vector<llvm::DWARFUnit*> DwarfFile::units() {
  std::vector<llvm::DWARFUnit*> result;
  for (const auto& unit : context_->normal_units()) {
    const DWARFDie die = unit->getNonSkeletonUnitDIE(false);
    if (die && is_sound(*die.getDwarfUnit())) result.push_back(die.getDwarfUnit());
  }
  return result;
}

llvm::DWARFUnit* DwarfFile::unit_at(std::uint64_t pc) {
  llvm::DWARFUnit* unit = context_->getCompileUnitForCodeAddress(pc);
  if (unit == nullptr) return nullptr;
  const DWARFDie die = unit->getNonSkeletonUnitDIE(false);
  return die && is_sound(*die.getDwarfUnit()) ? die.getDwarfUnit() : nullptr;
}

std::string DwarfFile::qualified_name(const DWARFDie& die) {
  std::string name(name_of(die));
  DWARFDie at = die;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    // Where it was declared says where it belongs.
    while (DWARFDie other = at.getAttributeValueAsReferencedDie(dwarf::DW_AT_specification)) {
      if (++steps > kMostSteps) return name;
      at = other;
    }
    at = at.getParent();
    if (!at || at.isSubroutineDIE()) break;
    const dwarf::Tag tag = at.getTag();
    const std::string_view scope = name_of(at);
    const bool counts = is_record(tag) || tag == dwarf::DW_TAG_enumeration_type ||
                        (tag == dwarf::DW_TAG_namespace &&
                         !(flag_of(at, dwarf::DW_AT_export_symbols) && is_reserved(scope)));
    // An enumerator's scope is its enumeration's.
    if (counts && !scope.empty() && name.size() < kMostName)
      name = fmt::format("{}::{}", scope, name);
  }
  return name;
}

std::string DwarfFile::function_around(const DWARFDie& die, int depth) {
  if (depth > kMostSteps) return "";
  DWARFDie at = die;
  for (int steps = 0; steps < kMostSteps && at; ++steps, at = at.getParent()) {
    if (!at.isSubroutineDIE()) continue;
    if (const DWARFDie origin = at.getAttributeValueAsReferencedDie(dwarf::DW_AT_abstract_origin))
      at = origin;
    if (const DWARFDie lambda = lambda_of(at)) {
      const std::string around = function_around(lambda.getParent(), depth + 1);
      return around.empty() || around.starts_with("lambda") ? around : "lambda in " + around;
    }
    return qualified_name(at);
  }
  return "";
}

const Type* DwarfFile::type_of(const DWARFDie& die) {
  DWARFDie at = die;
  for (int steps = 0; steps < kMostSteps && at; ++steps) {
    if (const DWARFDie type = at.getAttributeValueAsReferencedDie(dwarf::DW_AT_type))
      return type_from(type);
    DWARFDie other = at.getAttributeValueAsReferencedDie(dwarf::DW_AT_abstract_origin);
    if (!other) other = at.getAttributeValueAsReferencedDie(dwarf::DW_AT_specification);
    at = other;
  }
  return nullptr;
}

const Type* DwarfFile::type_from(DWARFDie die, std::uint32_t dimension) {
  const char* alias = nullptr;  // of what has no name of its own
  for (int steps = 0; steps < kMostSteps && die; ++steps) {
    if (is_transparent(die.getTag())) {
      if (die.getTag() == dwarf::DW_TAG_typedef) alias = die.getShortName();
      die = die.getAttributeValueAsReferencedDie(dwarf::DW_AT_type);
      continue;
    }
    if (is_record(die.getTag()) || die.getTag() == dwarf::DW_TAG_enumeration_type) {
      die = die.resolveTypeUnitReference();
      if (flag_of(die, dwarf::DW_AT_declaration))
        if (const DWARFDie whole = definition_of(die)) die = whole;
    }
    if (!is_sound(*die.getDwarfUnit())) return nullptr;
    return make_type(die, dimension, alias);
  }
  return nullptr;
}

const Type* DwarfFile::make_type(const DWARFDie& die, std::uint32_t dimension, const char* alias) {
  const auto [entry, added] =
      known_.try_emplace({die.getDwarfUnit(), die.getOffset(), dimension}, nullptr);
  if (!added) return entry->second;
  const Type::Kind kind = kind_of(die);
  std::optional<std::uint64_t> size = unsigned_of(die, dwarf::DW_AT_byte_size);
  if (flag_of(die, dwarf::DW_AT_declaration)) size.reset();
  if (!size && (kind == Type::Kind::kPointer || kind == Type::Kind::kReference)) size = 8;
  std::string name = type_name(die, 0);
  if (name.empty() && alias != nullptr) name = std::string_view(alias).substr(0, kMostName);
  const std::uint64_t key = entries_.size();
  entries_.push_back({die, dimension});
  Type& type = types_.emplace_back(kind, std::move(name), size, key, this);
  entry->second = &type;
  if (kind != Type::Kind::kArray) return &type;
  const auto dimensions = dimensions_of(die);
  const auto count = dimension < dimensions.size() ? dimensions[dimension] : std::nullopt;
  // Arrays of arrays of arrays: each asks for the size of its elements.
  if (arrays_ > kMostSteps) return &type;
  ++arrays_;
  const Type* element = type.target();
  --arrays_;
  std::uint64_t bytes = 0;
  if (count && element != nullptr && element->size() &&
      !__builtin_mul_overflow(*count, *element->size(), &bytes))
    size = bytes;
  else
    size.reset();
  Type whole(kind, type.name(), size, key, this);
  whole.set_count(count);
  type = std::move(whole);
  return &type;
}

const Type* DwarfFile::target_of(const Type& type) {
  const auto [die, dimension] = entries_[type.key()];
  if (type.kind() == Type::Kind::kArray && dimension + 1 < dimensions_of(die).size())
    return make_type(die, dimension + 1, nullptr);
  const DWARFDie target = die.getAttributeValueAsReferencedDie(dwarf::DW_AT_type);
  return target ? type_from(target) : nullptr;
}

Type::Parts DwarfFile::parts_of(const Type& type) {
  Type::Parts parts;
  const DWARFDie die = entries_[type.key()].die;
  for (const DWARFDie& child : die.children()) {
    if (parts.members.size() + parts.enumerators.size() > kMostParts) break;
    switch (child.getTag()) {
      case dwarf::DW_TAG_enumerator: {
        const auto value = child.find(dwarf::DW_AT_const_value);
        if (!value) break;
        const auto with_sign = value->getAsSignedConstant();
        const auto plain = value->getAsUnsignedConstant();
        if (with_sign || plain)
          parts.enumerators.push_back({std::string(name_of(child)),
                                       with_sign ? *with_sign : static_cast<std::int64_t>(*plain)});
        break;
      }
      case dwarf::DW_TAG_template_type_parameter:
        parts.arguments.push_back({std::string(name_of(child)), type_of(child), 0});
        break;
      // "class... Types": those of the list stand in its place.
      case dwarf::DW_TAG_GNU_template_parameter_pack:
        for (const DWARFDie& one : child.children())
          if (one.getTag() == dwarf::DW_TAG_template_type_parameter)
            parts.arguments.push_back({std::string(name_of(child)), type_of(one), 0});
        break;
      case dwarf::DW_TAG_template_value_parameter:
        parts.arguments.push_back(
            {std::string(name_of(child)), nullptr,
             static_cast<std::int64_t>(unsigned_of(child, dwarf::DW_AT_const_value).value_or(0))});
        break;
      case dwarf::DW_TAG_inheritance:
      case dwarf::DW_TAG_member: {
        if (flag_of(child, dwarf::DW_AT_external) || flag_of(child, dwarf::DW_AT_declaration) ||
            unsigned_of(child, dwarf::DW_AT_virtuality).value_or(0) != 0)
          break;  // static; or somewhere that only the object knows
        Member member;
        member.is_base = child.getTag() == dwarf::DW_TAG_inheritance;
        if (!member.is_base) member.name = name_of(child);
        member.type = type_of(child);
        if (member.type == nullptr) break;
        member.offset = unsigned_of(child, dwarf::DW_AT_data_member_location).value_or(0);
        member.bits =
            static_cast<std::uint32_t>(unsigned_of(child, dwarf::DW_AT_bit_size).value_or(0));
        if (const auto bit = unsigned_of(child, dwarf::DW_AT_data_bit_offset);
            bit && member.bits != 0) {
          member.offset = *bit / 8;
          member.bit_offset = static_cast<std::uint32_t>(*bit % 8);
        }
        parts.members.push_back(std::move(member));
        break;
      }
      default:
        break;
    }
  }
  return parts;
}

std::string DwarfFile::type_name(const DWARFDie& die, int depth) {
  if (!die) return "void";
  if (depth > 20) return "";
  const auto target = [&] {
    return type_name(die.getAttributeValueAsReferencedDie(dwarf::DW_AT_type), depth + 1);
  };
  switch (die.getTag()) {
    case dwarf::DW_TAG_pointer_type:
      return target() + " *";
    case dwarf::DW_TAG_reference_type:
      return target() + " &";
    case dwarf::DW_TAG_rvalue_reference_type:
      return target() + " &&";
    case dwarf::DW_TAG_const_type:
      return "const " + target();
    case dwarf::DW_TAG_volatile_type:
      return "volatile " + target();
    case dwarf::DW_TAG_array_type: {
      std::string name = target();
      for (const auto& count : dimensions_of(die))
        name += count ? fmt::format("[{}]", *count) : "[]";
      return name;
    }
    case dwarf::DW_TAG_subroutine_type:
      return target() + " ()";
    default:
      return name_of(die).empty() ? "" : qualified_name(die);
  }
}

void DwarfFile::index_types() {
  definitions_.emplace();
  for (llvm::DWARFUnit* unit : units())
    for (std::uint32_t i = 0; i < unit->getNumDIEs(); ++i) {
      const DWARFDie die = unit->getDIEAtIndex(i);
      const dwarf::Tag tag = die.getTag();
      if ((!is_record(tag) && tag != dwarf::DW_TAG_enumeration_type) || name_of(die).empty() ||
          flag_of(die, dwarf::DW_AT_declaration) || die.find(dwarf::DW_AT_signature))
        continue;
      definitions_->try_emplace(qualified_name(die), die);
    }
}

DWARFDie DwarfFile::definition_of(const DWARFDie& declaration) {
  if (!definitions_) index_types();
  const auto found = definitions_->find(qualified_name(declaration));
  return found == definitions_->end() ? DWARFDie() : found->second;
}

const Type* DwarfFile::find_type(std::string_view qualified) {
  if (!definitions_) index_types();
  const auto found = definitions_->find(std::string(qualified));
  return found == definitions_->end() ? nullptr : type_from(found->second);
}

}  // namespace clew
