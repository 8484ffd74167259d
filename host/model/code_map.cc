#include "host/model/code_map.h"

#include <algorithm>

#include "clew_abi/point.h"
#include "host/model/function_table.h"

namespace clew {

CodeMap::CodeMap(std::string_view maps) : maps_(maps) {}

CodeMap::Module* CodeMap::open(const std::string& path) {
  auto& module = modules_[path];
  if (module != nullptr) return module.get();
  module = std::make_unique<Module>();
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  module->is_linker = name.starts_with("ld-linux") || name.starts_with("ld-2.");
  auto file = ElfFile::open(path);
  if (!file) return module.get();
  module->functions = function_table(*file);
  module->stubs = stub_ranges(*file);
  if (const auto points = file->section(CLEW_POINT_SECTION))
    module->points = {points->address, points->address + points->bytes.size()};
  module->symbols = file->function_symbols();
  std::ranges::sort(module->symbols, {}, &ElfFile::Symbol::address);
  for (const ElfFile::Slot& slot : file->slots()) module->slots.emplace(slot.address, slot.name);
  module->file.emplace(std::move(*file));
  return module.get();
}

std::optional<CodeMap::Place> CodeMap::place(std::uint64_t address) {
  const Mapping* mapping = maps_.find(address);
  if (mapping == nullptr || !mapping->path.starts_with('/')) return std::nullopt;
  Module* module = open(mapping->path);
  if (!module->file) return std::nullopt;
  const auto linked = module->file->address_of_offset(address - mapping->start + mapping->offset);
  if (!linked) return std::nullopt;
  return Place{module, *linked, address - *linked};
}

std::optional<CodeRange> CodeMap::function(std::uint64_t address) {
  const auto at = place(address);
  if (!at || range_with(at->module->stubs, at->address) != nullptr) return std::nullopt;
  const CodeRange* range = range_with(at->module->functions, at->address);
  if (range == nullptr) return std::nullopt;
  return CodeRange{range->begin + at->bias, range->end + at->bias};
}

std::span<const ElfFile::Symbol> CodeMap::symbols(std::uint64_t address) {
  const auto at = place(address);
  if (!at) return {};
  const auto found =
      std::ranges::equal_range(at->module->symbols, at->address, {}, &ElfFile::Symbol::address);
  return {found.begin(), found.end()};
}

std::string_view CodeMap::symbol(std::uint64_t address) {
  // Of several names, the one that a person would use.
  const auto found = symbols(address);
  const auto shortest = std::ranges::min_element(
      found, {}, [](const ElfFile::Symbol& one) { return one.name.size(); });
  return shortest == found.end() ? "" : shortest->name;
}

std::string_view CodeMap::symbol_around(std::uint64_t address) {
  const auto range = function(address);
  return symbol(range ? range->begin : address);
}

std::string_view CodeMap::called(const Instruction& call) {
  const auto in_slot = [&](std::uint64_t slot) -> std::string_view {
    const auto at = place(slot);
    if (!at) return "";
    const auto found = at->module->slots.find(at->address);
    return found == at->module->slots.end() ? "" : found->second;
  };
  if (call.slot != 0) return in_slot(call.slot);
  if (call.target == 0) return "";
  const auto at = place(call.target);
  if (!at || range_with(at->module->stubs, at->address) == nullptr) return symbol(call.target);
  // A stub: at most a landing mark, then the jump.
  std::uint64_t address = call.target;
  Instruction one;
  for (int i = 0; i < 2 && decode(address, code(address), one); ++i, address = one.next())
    if (one.flow == Flow::kIndirectJump) return in_slot(one.slot);
  return "";
}

bool CodeMap::binds(std::uint64_t address) {
  const auto at = place(address);
  return at && (at->module->is_linker || range_with(at->module->stubs, at->address) != nullptr);
}

bool CodeMap::is_point(std::uint64_t address) {
  const auto at = place(address);
  return at && at->module->points.has(at->address);
}

std::span<const std::uint8_t> CodeMap::code(std::uint64_t address) {
  const auto at = place(address);
  if (!at) return {};
  const auto bytes = at->module->file->bytes_at_address(at->address);
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::span<const std::uint8_t> CodeMap::constant(std::uint64_t address) {
  const auto at = place(address);
  const auto section = at ? at->module->file->section(".rodata") : std::nullopt;
  if (!section || at->address < section->address ||
      at->address - section->address >= section->bytes.size())
    return {};
  const auto bytes = section->bytes.subspan(at->address - section->address);
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::string CodeMap::path(std::uint64_t address) const {
  const Mapping* mapping = maps_.find(address);
  return mapping == nullptr ? "" : mapping->path;
}

}  // namespace clew
