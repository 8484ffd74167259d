#include "host/symbolize/points.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace clew {

const char* to_word(abi::PointKind kind) {
  switch (kind) {
#define CLEW_KIND(name, text, access) \
  case abi::PointKind::name:          \
    return text;
    CLEW_POINT_KINDS(CLEW_KIND)
#undef CLEW_KIND
    case abi::PointKind::kCount:
      break;
  }
  return "point";
}

Result<PointTable> PointTable::open(const std::string& module) {
  CLEW_TRY(auto file, ElfFile::open(module));
  return of(std::move(file));
}

PointTable PointTable::of(ElfFile file) {
  const auto section = file.section(CLEW_POINT_SECTION);
  return {std::move(file), section.value_or(ElfFile::Section{})};
}

std::string PointTable::text(std::uint64_t field_address, std::int32_t offset) const {
  // Wraps for a negative offset, as it should.
  const auto found = file_.string_at_address(
      field_address + static_cast<std::uint64_t>(static_cast<std::int64_t>(offset)));
  return std::string(found.value_or(""));
}

std::optional<PointSource> PointTable::at(std::uint64_t id) const {
  if (id >= size()) return std::nullopt;
  abi::Point point;
  std::memcpy(&point, section_.bytes.data() + id * sizeof point, sizeof point);
  if (point.kind >= abi::PointKind::kCount) return std::nullopt;
  const std::uint64_t address = section_.address + id * sizeof point;
  return PointSource{text(address + offsetof(abi::Point, file), point.file), point.line,
                     point.column, text(address + offsetof(abi::Point, function), point.function),
                     point.kind};
}

}  // namespace clew
