#include "host/names/module_names.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "host/names/location.h"
#include "host/names/module_impl.h"

namespace clew {
namespace {

namespace dwarf = llvm::dwarf;
using llvm::DWARFDie;
using Kind = Whereabouts::Kind;

// Of a value that is looked at as a whole.
constexpr std::uint64_t kMostBytes = 64 * 1024;

const StaticVariable* find_static(const Statics& variables, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(variables, address, {}, &StaticVariable::address);
  if (after == variables.begin()) return nullptr;
  const StaticVariable& found = *std::prev(after);
  return address - found.address < found.size ? &found : nullptr;
}

// Whether so many bytes have all members of a class, the last ones of it being padding.
bool holds_all_of(const Type& type, std::uint64_t bytes) {
  if (type.kind() != Type::Kind::kRecord || type.members().empty()) return false;
  return std::ranges::all_of(type.members(), [bytes](const Member& member) {
    const auto size = member.type->size();
    return size && member.offset <= bytes && *size <= bytes - member.offset;
  });
}

}  // namespace

ModuleNames::ModuleNames(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ModuleNames::~ModuleNames() = default;

Result<std::shared_ptr<ModuleNames>> ModuleNames::open(const std::string& path) {
  CLEW_TRY(auto file, DwarfFile::open(path));
  return std::shared_ptr<ModuleNames>(new ModuleNames(std::make_unique<Impl>(std::move(file))));
}

void ModuleNames::Impl::index_statics() {
  if (indexed) return;
  indexed = true;
  Machine nowhere;
  nowhere.thread_local_block = 0;
  for (llvm::DWARFUnit* unit : file->units())
    for (std::uint32_t i = 0; i < unit->getNumDIEs(); ++i) {
      const DWARFDie die = unit->getDIEAtIndex(i);
      if (die.getTag() != dwarf::DW_TAG_variable) continue;
      const auto location = die.find(dwarf::DW_AT_location);
      if (!location) continue;
      const auto expression = location->getAsBlock();
      // Only those whose address is a constant: others are a function's.
      if (!expression || expression->empty()) continue;
      const std::uint8_t first = expression->front();
      constexpr std::array<std::uint8_t, 8> kConstant{dwarf::DW_OP_addr,
                                                      dwarf::DW_OP_addrx,
                                                      dwarf::DW_OP_GNU_addr_index,
                                                      dwarf::DW_OP_constx,
                                                      dwarf::DW_OP_const4u,
                                                      dwarf::DW_OP_const8u,
                                                      dwarf::DW_OP_GNU_const_index,
                                                      dwarf::DW_OP_const2u};
      if (std::ranges::find(kConstant, first) == kConstant.end()) continue;
      const LocationInput input{.machine = nowhere, .unit = unit, .frame_base = {}, .cfa = {}};
      const Evaluated found = evaluate(*expression, input);
      // At address 0 are those that the linker has left out.
      if (found.at.kind != Kind::kMemory || (!found.thread_local_storage && found.at.address == 0))
        continue;
      const Type* type = file->type_of(die);
      const std::uint64_t size = type != nullptr ? type->size().value_or(1) : 1;
      (found.thread_local_storage ? thread_locals : globals)
          .push_back({found.at.address, std::max<std::uint64_t>(size, 1), die});
    }
  for (Statics* list : {&globals, &thread_locals})
    std::ranges::sort(*list, [](const StaticVariable& a, const StaticVariable& b) {
      return std::pair(a.address, a.size) < std::pair(b.address, b.size);
    });
}

std::optional<NamedData> ModuleNames::Impl::named(const Statics& variables, std::uint64_t address,
                                                  std::uint64_t size) {
  const StaticVariable* found = find_static(variables, address);
  if (found == nullptr) return std::nullopt;
  NamedData data;
  data.variable = file->qualified_name(found->die);
  if (data.variable.empty()) return std::nullopt;
  data.function = file->function_around(found->die);
  data.offset = address - found->address;
  data.type = file->type_of(found->die);
  if (data.type == nullptr) return data;
  if (const auto path = member_path(*data.type, data.offset, size)) {
    data.path = path->text;
    data.type = path->type;
    data.offset = path->offset;
  }
  return data;
}

std::optional<NamedData> ModuleNames::global_at(std::uint64_t address, std::uint64_t size) {
  impl_->index_statics();
  return impl_->named(impl_->globals, address, size);
}

std::optional<ModuleNames::Global> ModuleNames::global_named(const std::string& name) {
  impl_->index_statics();
  std::optional<Global> found;
  for (const StaticVariable& one : impl_->globals) {
    if (name_of(one.die) != name && impl_->file->qualified_name(one.die) != name) continue;
    if (found && found->address != one.address) return std::nullopt;
    found = Global{one.address, impl_->file->type_of(one.die)};
  }
  return found;
}

std::optional<NamedData> ModuleNames::thread_local_at(std::uint64_t offset, std::uint64_t size) {
  impl_->index_statics();
  return impl_->named(impl_->thread_locals, offset, size);
}

std::uint64_t ModuleNames::thread_local_size() {
  const llvm::StringRef bytes = impl_->file->object().getData();
  const auto load = [&bytes]<class T>(std::uint64_t offset, T& into) {
    if (offset > bytes.size() || sizeof into > bytes.size() - offset) return false;
    std::memcpy(&into, bytes.data() + offset, sizeof into);
    return true;
  };
  Elf64_Ehdr head;
  if (!load(0, head)) return 0;
  for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!load(head.e_phoff + i * sizeof segment, segment)) return 0;
    if (segment.p_type != PT_TLS) continue;
    const std::uint64_t alignment = std::max<std::uint64_t>(segment.p_align, 1);
    if (alignment > kMostBytes) return 0;
    return (segment.p_memsz + alignment - 1) / alignment * alignment;
  }
  return 0;
}

std::vector<Variable> ModuleNames::variables_at(std::uint64_t pc) {
  const auto [known, added] = impl_->at_pc.try_emplace(pc);
  if (!added) return known->second;
  llvm::DWARFUnit* unit = impl_->file->unit_at(pc);
  if (unit == nullptr) return {};
  return known->second = impl_->list(variables_in_scope(*unit, pc));
}

std::vector<Variable> ModuleNames::Impl::list(const std::vector<ScopedVariable>& variables) {
  std::vector<Variable> result;
  for (const ScopedVariable& one : variables) {
    Variable variable;
    variable.name = name_of(one.die);
    if (variable.name.empty()) continue;
    variable.type = file->type_of(one.die);
    variable.function = file->function_around(one.scope);
    variable.line = static_cast<std::uint32_t>(one.die.getDeclLine());
    variable.is_parameter = one.die.getTag() == dwarf::DW_TAG_formal_parameter;
    variable.key = scoped.size();
    scoped.push_back(one);
    result.push_back(std::move(variable));
  }
  return result;
}

bool ModuleNames::Impl::is_optimised(llvm::DWARFUnit& unit) {
  const auto [known, added] = optimised.try_emplace(&unit);
  if (added) known->second = !has_fixed_places(unit);
  return known->second;
}

bool ModuleNames::is_optimised(std::uint64_t pc) {
  llvm::DWARFUnit* unit = impl_->file->unit_at(pc);
  return unit == nullptr || impl_->is_optimised(*unit);
}

std::string ModuleNames::function_at(std::uint64_t pc) {
  llvm::DWARFUnit* unit = impl_->file->unit_at(pc);
  if (unit == nullptr) return "";
  llvm::SmallVector<DWARFDie, 4> chain;
  unit->getInlinedChainForAddress(pc, chain);
  return chain.empty() ? "" : impl_->file->function_around(chain.front());
}

Evaluated ModuleNames::Impl::evaluate_at(const ScopedVariable& variable, std::uint64_t pc,
                                         const Machine& given) {
  const auto expression = expression_at(variable.die, dwarf::DW_AT_location, pc);
  if (!expression) return {};
  Machine machine = given;
  machine.reg = [&](unsigned number) -> std::optional<std::uint64_t> {
    if (const auto value = given.register_value(number)) return value;
    return given.cfa ? frames.register_by_cfa(pc, number, *given.cfa) : std::nullopt;
  };
  LocationInput input{
      .machine = machine, .unit = variable.die.getDwarfUnit(), .frame_base = {}, .cfa = {}};
  input.cfa = [&] { return frames.cfa(pc, machine); };
  input.frame_base = [&]() -> std::optional<std::uint64_t> {
    const auto base = expression_at(variable.function, dwarf::DW_AT_frame_base, pc);
    if (!base) return std::nullopt;
    LocationInput inner{.machine = machine, .unit = input.unit, .frame_base = {}, .cfa = input.cfa};
    const Whereabouts at = evaluate(*base, inner).at;
    if (at.kind == Kind::kRegister) return machine.register_value(at.reg);
    return at.kind == Kind::kMemory ? std::optional(at.address) : std::nullopt;
  };
  return evaluate(*expression, input);
}

Whereabouts ModuleNames::locate(const Variable& variable, std::uint64_t pc,
                                const Machine& machine) {
  if (variable.key >= impl_->scoped.size()) return {};
  const ScopedVariable& scoped = impl_->scoped[variable.key];
  if (const auto constant = scoped.die.find(dwarf::DW_AT_const_value)) {
    Whereabouts result{.kind = Kind::kValue, .address = 0, .reg = 0, .bytes = {}};
    if (const auto block = constant->getAsBlock()) {
      result.bytes.assign(block->begin(), block->end());
      return result;
    }
    const auto with_sign = constant->getAsSignedConstant();
    const auto plain = constant->getAsUnsignedConstant();
    if (!with_sign && !plain) return {};
    const std::uint64_t value = with_sign ? static_cast<std::uint64_t>(*with_sign) : *plain;
    for (unsigned i = 0; i < 8; ++i)
      result.bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    return result;
  }
  return impl_->evaluate_at(scoped, pc, machine).at;
}

std::optional<std::vector<std::uint8_t>> ModuleNames::value_of(const Variable& variable,
                                                               std::uint64_t pc,
                                                               const Machine& machine) {
  if (variable.type == nullptr || !variable.type->size()) return std::nullopt;
  const std::uint64_t size = *variable.type->size();
  if (size == 0 || size > kMostBytes) return std::nullopt;
  const Whereabouts at = locate(variable, pc, machine);
  std::vector<std::uint8_t> bytes(size);
  switch (at.kind) {
    case Kind::kMemory:
      if (!machine.read || !machine.read(at.address, bytes)) return std::nullopt;
      return bytes;
    case Kind::kRegister: {
      const auto value = machine.register_value(at.reg);
      if (!value || size > 8) return std::nullopt;
      for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(*value >> 8 * i);
      return bytes;
    }
    case Kind::kValue:
      // Of an object in pieces its padding is nowhere.
      if (at.bytes.size() < size && !holds_all_of(*variable.type, at.bytes.size()))
        return std::nullopt;
      std::copy_n(at.bytes.begin(), std::min<std::size_t>(size, at.bytes.size()), bytes.begin());
      return bytes;
    default:
      return std::nullopt;
  }
}

std::optional<Variable> ModuleNames::variable_in_register(std::uint64_t pc, unsigned reg) {
  const Machine nowhere;
  for (const Variable& variable : variables_at(pc)) {
    const ScopedVariable& scoped = impl_->scoped[variable.key];
    if (scoped.die.find(dwarf::DW_AT_const_value)) continue;
    const auto expression = expression_at(scoped.die, dwarf::DW_AT_location, pc);
    if (!expression) continue;
    const LocationInput input{
        .machine = nowhere, .unit = scoped.die.getDwarfUnit(), .frame_base = {}, .cfa = {}};
    const Whereabouts at = evaluate(*expression, input).at;
    if (at.kind == Kind::kRegister && at.reg == reg) return variable;
    // "the value is that of the register plus 0"
    if (reg < 32 && expression->size() == 3 && (*expression)[0] == dwarf::DW_OP_breg0 + reg &&
        (*expression)[1] == 0 && (*expression)[2] == dwarf::DW_OP_stack_value)
      return variable;
  }
  return std::nullopt;
}

std::optional<NamedData> ModuleNames::local_at(std::uint64_t address, std::uint64_t size,
                                               std::uint64_t pc, const Machine& machine) {
  const auto variables = variables_at(pc);
  const auto part_at = [&](const Variable& variable,
                           std::optional<std::uint64_t> begin) -> std::optional<NamedData> {
    const std::uint64_t extent = std::max<std::uint64_t>(variable.type->size().value_or(1), 1);
    if (!begin || address < *begin || address - *begin >= extent) return std::nullopt;
    const auto path = member_path(*variable.type, address - *begin, size);
    if (!path) return std::nullopt;
    return NamedData{variable.name, path->text, path->type, path->offset, variable.function};
  };
  for (const Variable& variable : variables) {
    if (variable.type == nullptr) continue;
    const Whereabouts at = locate(variable, pc, machine);
    if (auto found =
            part_at(variable, at.kind == Kind::kMemory ? std::optional(at.address) : at.home))
      return found;
  }
  // Where its value cannot be told, a variable still has its place in the frame, if it has only one,
  // and nobody else has that.
  const auto only_one = [&](const std::vector<Variable>& among,
                            const auto& home_of) -> std::optional<NamedData> {
    std::optional<NamedData> found;
    for (const Variable& variable : among) {
      if (variable.type == nullptr) continue;
      auto part = part_at(variable, home_of(variable));
      if (!part) continue;
      if (found) return std::nullopt;
      found = std::move(part);
    }
    return found;
  };
  if (auto found = only_one(variables, [&](const Variable& variable) {
        return impl_->only_home(impl_->scoped[variable.key], machine);
      }))
    return found;
  llvm::DWARFUnit* unit = impl_->file->unit_at(pc);
  if (unit == nullptr || impl_->is_optimised(*unit)) return std::nullopt;
  const auto [others, added] = impl_->in_other_blocks.try_emplace(pc);
  if (added) others->second = impl_->list(variables_of_other_blocks(*unit, pc));
  return only_one(others->second, [&](const Variable& variable) {
    const Whereabouts at = locate(variable, pc, machine);
    return at.kind == Kind::kMemory ? std::optional(at.address) : std::nullopt;
  });
}

// The one place in the frame that a variable has wherever it is in memory.
std::optional<std::uint64_t> ModuleNames::Impl::only_home(const ScopedVariable& variable,
                                                          const Machine& machine) {
  if (!machine.cfa) return std::nullopt;
  auto locations = variable.die.getLocations(dwarf::DW_AT_location);
  if (!locations) {
    llvm::consumeError(locations.takeError());
    return std::nullopt;
  }
  Machine frame;  // registers are those of another instruction
  frame.bias = machine.bias;
  frame.cfa = machine.cfa;
  std::optional<std::uint64_t> home;
  for (const auto& location : *locations) {
    if (!location.Range) return std::nullopt;
    const Whereabouts at = evaluate_at(variable, location.Range->LowPC, frame).at;
    const auto here = at.kind == Kind::kMemory ? std::optional(at.address) : at.home;
    if (!here) continue;
    if (home && *home != *here) return std::nullopt;
    home = here;
  }
  return home;
}

const Type* ModuleNames::find_type(std::string_view qualified) {
  return impl_->file->find_type(qualified);
}

std::optional<std::uint64_t> ModuleNames::cfa(std::uint64_t pc, const Machine& machine) {
  return impl_->frames.cfa(pc, machine);
}

std::optional<Registers> ModuleNames::caller(std::uint64_t pc, const Machine& machine) {
  return impl_->frames.caller(pc, machine);
}

}  // namespace clew
