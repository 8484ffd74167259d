#include "host/symbolize/point_lines.h"

#include <algorithm>
#include <cstring>

#include "clew_abi/point_lines.h"
#include "clew_abi/stream.h"

namespace clew {
namespace {

std::string_view read_text(abi::Reader& from) {
  const std::uint64_t size = from.varint();
  const std::uint8_t* text = from.bytes(size);
  return text == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(text), size);
}

}  // namespace

PointLines::PointLines(std::span<const std::byte> section, std::uint64_t table,
                       std::size_t points) {
  if (points > kMostPoints) return;
  entries_.resize(points);
  while (section.size() >= sizeof(abi::PointLines)) {
    abi::PointLines head;
    std::memcpy(&head, section.data(), sizeof head);
    section = section.subspan(sizeof head);
    if (head.size > section.size()) return;
    const std::uint64_t first = head.points - table;
    if (first <= points && head.count <= points - first)
      read(section.first(head.size), std::span(entries_).subspan(first, head.count));
    section = section.subspan(head.size);
  }
}

// Of one object file. Each of its files and sources has a point, which bounds what wrong numbers take.
void PointLines::read(std::span<const std::byte> bytes, std::span<Entry> points) {
  abi::Reader from(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  std::vector<std::string_view> files(std::min<std::uint64_t>(from.varint(), points.size()));
  for (std::string_view& file : files) file = read_text(from);
  const std::uint64_t first = sources_.size();
  const std::uint64_t count = from.varint();
  if (count > entries_.size() - first) return;
  for (std::uint64_t i = 0; i < count && from.ok(); ++i) {
    const std::uint64_t file = from.varint();
    sources_.push_back({file < files.size() ? files[file] : std::string_view(), read_text(from)});
  }
  std::uint64_t source = 0;
  std::uint64_t line = 0;
  for (Entry& point : points) {
    const std::uint64_t column = from.varint();
    if ((column & 1) != 0) source = from.varint();
    line += static_cast<std::uint64_t>(abi::unfold_step(from.varint()));
    if (!from.ok() || source >= sources_.size() - first) return;
    point = {static_cast<std::uint32_t>(first + source + 1), static_cast<std::uint32_t>(line),
             static_cast<std::uint32_t>(column >> 1)};
  }
}

PointLine PointLines::at(std::size_t point) const {
  if (point >= entries_.size() || entries_[point].source == 0) return {};
  const Entry& entry = entries_[point];
  const Source& source = sources_[entry.source - 1];
  return {source.file, source.function, entry.line, entry.column};
}

}  // namespace clew
