#include "host/model/code_map.h"

#include <algorithm>
#include <cstring>

#include "clew_abi/point.h"

namespace clew {
namespace {

template <class T>
std::optional<T> read(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Of the entry at `fde` (System V ABI: .eh_frame), whose function begins at `begin`; 0: not known.
// Its size is read in the one encoding that compilers use.
std::uint64_t size_of_function(const ElfFile& file, std::uint64_t fde, std::uint64_t begin) {
  const auto bytes = file.bytes_at_address(fde);
  const auto relative = read<std::int32_t>(bytes, 8);
  const auto size = read<std::uint32_t>(bytes, 12);
  if (!relative || !size) return 0;
  return fde + 8 + static_cast<std::uint64_t>(std::int64_t{*relative}) == begin ? *size : 0;
}

std::vector<CodeRange> functions_of(const ElfFile& file) {
  std::vector<CodeRange> result;
  const auto header = file.section(".eh_frame_hdr");
  if (!header || header->bytes.size() < 12) return result;
  // Version 1; a relative pointer, a count, and a table of pairs relative to the section.
  constexpr std::byte kExpected[] = {std::byte{1}, std::byte{0x1b}, std::byte{0x03},
                                     std::byte{0x3b}};
  if (!std::equal(std::begin(kExpected), std::end(kExpected), header->bytes.begin())) return result;
  const std::uint32_t count = read<std::uint32_t>(header->bytes, 8).value_or(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto begin = read<std::int32_t>(header->bytes, 12 + i * 8);
    const auto entry = read<std::int32_t>(header->bytes, 16 + i * 8);
    if (!begin || !entry) break;
    const std::uint64_t at = header->address + static_cast<std::uint64_t>(std::int64_t{*begin});
    const std::uint64_t fde = header->address + static_cast<std::uint64_t>(std::int64_t{*entry});
    result.push_back({at, at + size_of_function(file, fde, at)});
  }
  std::ranges::sort(result, {}, &CodeRange::begin);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::uint64_t next = i + 1 < result.size() ? result[i + 1].begin : UINT64_MAX;
    if (result[i].end == result[i].begin && next != UINT64_MAX) result[i].end = next;
    result[i].end = std::min(result[i].end, next);
  }
  return result;
}

const CodeRange* range_with(const std::vector<CodeRange>& ranges, std::uint64_t address) {
  auto after = std::ranges::upper_bound(ranges, address, {}, &CodeRange::begin);
  if (after == ranges.begin()) return nullptr;
  --after;
  return after->has(address) ? &*after : nullptr;
}

}  // namespace

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
  module->functions = functions_of(*file);
  for (const char* stubs : {".plt", ".plt.got", ".plt.sec", ".iplt"})
    if (const auto section = file->section(stubs))
      module->stubs.push_back({section->address, section->address + section->bytes.size()});
  std::ranges::sort(module->stubs, {}, &CodeRange::begin);
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

std::string CodeMap::path(std::uint64_t address) const {
  const Mapping* mapping = maps_.find(address);
  return mapping == nullptr ? "" : mapping->path;
}

}  // namespace clew
