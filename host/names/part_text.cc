#include "host/names/part_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "host/names/library_layout.h"

namespace clew {
namespace {

using Kind = Type::Kind;

constexpr int kMostDepth = 8;
constexpr std::size_t kMostParts = 8;

// A size in memory is smaller: so large a number in place of a string's capacity is text.
constexpr std::uint64_t kLeastText = std::uint64_t{1} << 47;
// Where libstdc++ keeps the capacity of a string, or its characters if they are few. Part of its ABI.
constexpr std::uint64_t kStringBuffer = 16;
constexpr std::uint64_t kStringSize = 32;

// Where it is only declared, its layout is part of the library's ABI.
bool is_string(const Type& type) {
  if (library_class(type) != "basic_string") return false;
  if (!type.size()) return type.name().starts_with("std::basic_string<char,");
  const Type* character = argument(type, 0);
  return character != nullptr && character->size() == 1 && type.size() == kStringSize;
}
std::uint64_t size_of(const Type& type) {
  return type.size().value_or(is_string(type) ? kStringSize : 0);
}

class Parts {
 public:
  Parts(std::uint64_t offset, std::span<const std::uint8_t> bytes, const ValueContext& context)
      : begin_(offset), bytes_(bytes), context_(context) {}

  // An object that begins `at` bytes into the outermost one.
  void add(const Type& type, std::uint64_t at, const std::string& path, int depth) {
    const std::uint64_t size = size_of(type);
    if (size == 0 || at >= end() || at + size <= begin_) return;
    if (depth > kMostDepth || parts_.size() >= kMostParts) return unknown();
    if (is_string(type)) return add_string(at, path);
    if (type.is_library() && !library_class(type).starts_with("atomic")) return unknown();
    if (type.kind() == Kind::kArray) return add_array(type, at, path, depth);
    if (type.kind() == Kind::kRecord && !type.is_library())
      return add_members(type, at, path, depth);
    if (type.kind() == Kind::kUnion || at < begin_ || at + size > end()) return unknown();
    tell(path, value_text(type, bytes_.subspan(at - begin_, size), context_));
  }

  // Elements of an array without an end.
  void add_elements(const Type& element, std::uint64_t at, std::uint64_t count,
                    const std::string& path, int depth) {
    const std::uint64_t size = size_of(element);
    if (size == 0) return unknown();
    if (element.kind() == Kind::kCharacter && size == 1)
      return add_text(std::max(at, begin_), std::min(at + count, end()), path);
    for (std::uint64_t i = begin_ > at ? (begin_ - at) / size : 0;
         i < count && at + i * size < end(); ++i) {
      if (parts_.size() >= kMostParts) return unknown();
      add(element, at + i * size, path.empty() ? "" : fmt::format("{}[{}]", path, i), depth + 1);
    }
  }

  [[nodiscard]] std::string text() const {
    if (parts_.empty()) return "";
    if (parts_.size() == 1 && parts_[0].first.empty() && !has_unknown_) return parts_[0].second;
    std::string text = "{";
    for (const auto& [name, value] : parts_)
      text += (text.size() > 1 ? ", " : "") + (name.empty() ? "" : name + " = ") + value;
    return text + (has_unknown_ ? ", ...}" : "}");
  }

 private:
  [[nodiscard]] std::uint64_t end() const { return begin_ + bytes_.size(); }
  void unknown() { has_unknown_ = true; }
  void tell(const std::string& path, std::string value) {
    parts_.emplace_back(path, std::move(value));
  }

  void add_array(const Type& type, std::uint64_t at, const std::string& path, int depth) {
    const Type* element = type.target();
    const std::uint64_t size = element != nullptr ? size_of(*element) : 0;
    if (size == 0) return unknown();
    add_elements(*element, at, *type.size() / size, path, depth);
  }

  void add_members(const Type& type, std::uint64_t at, const std::string& path, int depth) {
    for (const Member& member : type.members()) {
      if (is_reserved(member.name)) {
        if (at + member.offset < end() &&
            at + member.offset + member.type->size().value_or(1) > begin_)
          unknown();
        continue;
      }
      const std::string name = member.name.empty() ? path
                               : path.empty()      ? member.name
                                                   : path + "." + member.name;
      if (member.bits == 0) {
        add(*member.type, at + member.offset, name, depth + 1);
      } else if (const std::uint64_t first = at + member.offset + member.bit_offset / 8;
                 first >= begin_ && first < end()) {
        if (at < begin_) return unknown();
        tell(name, member_text(member, bytes_.subspan(at - begin_), context_));
      }
    }
  }

  void add_text(std::uint64_t from, std::uint64_t to, const std::string& path) {
    std::string text;
    for (std::uint64_t i = from; i < to; ++i) {
      const std::uint8_t byte = bytes_[i - begin_];
      if (byte == 0) break;
      if (byte == '"' || byte == '\\') text += '\\';
      text += byte >= 0x20 && byte < 0x7f ? std::string(1, static_cast<char>(byte))
                                          : fmt::format("\\x{:02x}", byte);
    }
    // A character alone is one, also if it ends a string.
    if (to - from == 1)
      tell(path, text.empty() ? "'\\0'" : "'" + text + "'");
    else
      tell(path, "\"" + text + "\"");
  }

  // Its pointer, its length, and either a capacity or the characters themselves.
  void add_string(std::uint64_t at, const std::string& path) {
    if (begin_ < at || end() > at + kStringSize) return unknown();
    const std::uint64_t inside = begin_ - at;
    const std::string of = path.empty() ? "" : path + ".";
    if (inside == 8 && bytes_.size() == 8) return tell(of + "size()", fmt::format("{}", number()));
    if (inside < kStringBuffer) return unknown();
    const bool is_capacity = inside == kStringBuffer && bytes_.size() == 8 && number() < kLeastText;
    if (is_capacity) return unknown();
    add_text(begin_, end(), path);
  }
  [[nodiscard]] std::uint64_t number() const {
    std::uint64_t value = 0;
    for (std::size_t i = std::min<std::size_t>(bytes_.size(), 8); i-- > 0;)
      value = value << 8 | bytes_[i];
    return value;
  }

  std::uint64_t begin_;
  std::span<const std::uint8_t> bytes_;
  const ValueContext& context_;
  std::vector<std::pair<std::string, std::string>> parts_;  // names and values
  bool has_unknown_ = false;
};

}  // namespace

std::string part_text(const Type& type, std::uint64_t offset, std::span<const std::uint8_t> bytes,
                      const ValueContext& context) {
  const std::uint64_t size = size_of(type);
  if (size == 0 || bytes.empty()) return "";
  Parts parts(offset, bytes, context);
  if (!type.is_aggregate() && offset + bytes.size() > size)
    parts.add_elements(type, 0, (offset + bytes.size()) / size, "", 0);
  else
    parts.add(type, 0, "", 0);
  return parts.text();
}

}  // namespace clew
