#include "host/symbolize/points.h"

#include <bit>
#include <utility>

#include "clew_abi/point_lines.h"

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
  const auto points = file.section(CLEW_POINT_SECTION).value_or(ElfFile::Section{});
  const auto lines = file.section(CLEW_LINES_SECTION).value_or(ElfFile::Section{});
  return {std::move(file), points.bytes,
          PointLines(lines.bytes, points.address, points.bytes.size())};
}

std::optional<PointSource> PointTable::at(std::uint64_t id) const {
  if (id >= size()) return std::nullopt;
  const auto point = std::bit_cast<abi::Point>(kinds_[id]);
  if (point.kind >= abi::PointKind::kCount) return std::nullopt;
  const PointLine line = lines_.at(id);
  return PointSource{std::string(line.file), line.line, line.column, std::string(line.function),
                     point.kind};
}

}  // namespace clew
