#include "host/symbolize/maps.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace clew {
namespace {

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

bool hex(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

// start-end rwxp offset device inode path
std::optional<Mapping> parse_line(std::string_view line) {
  const std::string_view range = next_word(line);
  next_word(line);
  const std::string_view offset = next_word(line);
  next_word(line);
  next_word(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t dash = range.find('-');
  Mapping mapping;
  if (dash == std::string_view::npos || !hex(range.substr(0, dash), mapping.start) ||
      !hex(range.substr(dash + 1), mapping.end) || !hex(offset, mapping.offset) ||
      mapping.start >= mapping.end || !line.starts_with('/'))
    return std::nullopt;
  mapping.path = line;
  return mapping;
}

}  // namespace

Maps::Maps(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto mapping = parse_line(text.substr(0, end))) mappings_.push_back(std::move(*mapping));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::ranges::sort(mappings_, {}, &Mapping::start);
}

const Mapping* Maps::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::start);
  if (after == mappings_.begin()) return nullptr;
  const Mapping& mapping = *std::prev(after);
  return address < mapping.end ? &mapping : nullptr;
}

const Mapping* Maps::module_before(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::start);
  if (after == mappings_.begin()) return nullptr;
  auto at = std::prev(after);
  const std::string& path = at->path;
  while (at->offset != 0 && at != mappings_.begin() && std::prev(at)->path == path) --at;
  return at->offset == 0 ? &*at : nullptr;
}

}  // namespace clew
