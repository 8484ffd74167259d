#include "host/model/function_table.h"

#include <algorithm>
#include <cstring>
#include <optional>

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

}  // namespace

std::vector<CodeRange> function_table(const ElfFile& file) {
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

std::vector<CodeRange> stub_ranges(const ElfFile& file) {
  std::vector<CodeRange> result;
  for (const char* stubs : {".plt", ".plt.got", ".plt.sec", ".iplt"})
    if (const auto section = file.section(stubs))
      result.push_back({section->address, section->address + section->bytes.size()});
  std::ranges::sort(result, {}, &CodeRange::begin);
  return result;
}

const CodeRange* range_with(const std::vector<CodeRange>& ranges, std::uint64_t address) {
  auto after = std::ranges::upper_bound(ranges, address, {}, &CodeRange::begin);
  if (after == ranges.begin()) return nullptr;
  --after;
  return after->has(address) ? &*after : nullptr;
}

}  // namespace clew
