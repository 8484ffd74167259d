#include "host/names/value_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host/names/library_layout.h"
#include "host/names/value_printer.h"

namespace clew {
namespace {

using Kind = Type::Kind;

constexpr int kMostDepth = 3;
constexpr int kMostReads = 400;
constexpr int kMostParts = 200;
constexpr std::size_t kMostText = 200;     // of the whole
constexpr std::uint64_t kMostString = 60;  // of a string in it
constexpr std::size_t kShownMembers = 6;
constexpr std::uint64_t kMostRead = 64 * 1024;

std::int64_t extended(std::uint64_t raw, unsigned bits) {
  if (bits == 0 || bits >= 64) return static_cast<std::int64_t>(raw);
  return static_cast<std::int64_t>(raw << (64 - bits)) >> (64 - bits);
}

std::string escaped(std::uint8_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    case 0:
      return "\\0";
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    default:
      return c >= 0x20 && c < 0x7f ? std::string(1, static_cast<char>(c))
                                   : fmt::format("\\x{:02x}", c);
  }
}

std::string float_text(std::span<const std::uint8_t> bytes) {
  if (bytes.size() == sizeof(float)) {
    float value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return fmt::format("{}", value);
  }
  if (bytes.size() == sizeof(double)) {
    double value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return fmt::format("{}", value);
  }
  if (bytes.size() == sizeof(long double)) {
    long double value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return fmt::format("{}", value);
  }
  return "?";
}

}  // namespace

std::uint64_t ValuePrinter::number(Bytes bytes, std::uint64_t offset, std::size_t size) {
  std::uint64_t value = 0;
  if (size > sizeof value || offset > bytes.size() || size > bytes.size() - offset) return 0;
  std::memcpy(&value, bytes.data() + offset, size);
  return value;
}

std::optional<std::vector<std::uint8_t>> ValuePrinter::read(std::uint64_t address,
                                                            std::uint64_t size) {
  if (!context_.read || size == 0 || size > kMostRead || ++reads_ > kMostReads) return std::nullopt;
  std::vector<std::uint8_t> bytes(size);
  if (!context_.read(address, bytes)) return std::nullopt;
  return bytes;
}

std::optional<std::uint64_t> ValuePrinter::word(std::uint64_t address) {
  const auto bytes = read(address, 8);
  if (!bytes) return std::nullopt;
  return number(*bytes, 0, 8);
}

std::string ValuePrinter::text_at(std::uint64_t address, std::uint64_t length, bool terminated) {
  std::string text = "\"";
  std::uint64_t at = 0;
  for (bool ended = false; at < std::min(length, kMostString) && !ended;) {
    // Not beyond the page: what follows need not be there.
    const std::uint64_t left = std::min(length, kMostString) - at;
    const std::uint64_t piece = std::min(left, 64 - (address + at) % 64);
    const auto bytes = read(address + at, piece);
    if (!bytes) return at == 0 ? "?" : text + "\"...";
    for (const std::uint8_t c : *bytes) {
      if (terminated && c == 0) {
        ended = true;
        break;
      }
      text += escaped(c);
      ++at;
    }
    if (ended) return text + "\"";
  }
  return text + (at < length ? "\"..." : "\"");
}

std::string ValuePrinter::number_of(const Type& type, std::uint64_t raw) {
  const auto bits = static_cast<unsigned>(std::min<std::uint64_t>(type.size().value_or(8), 8) * 8);
  switch (type.kind()) {
    case Kind::kBool:
      return raw == 0 ? "false" : raw == 1 ? "true" : fmt::format("{} (not a bool)", raw);
    case Kind::kSigned:
      return fmt::format("{}", extended(raw, bits));
    case Kind::kCharacter:
      // "signed char" and "unsigned char" are small numbers to who writes them.
      if (type.name() != "char" && bits == 8)
        return type.name().starts_with("signed") ? fmt::format("{}", extended(raw, bits))
                                                 : fmt::format("{}", raw);
      if (raw >= 0x20 && raw < 0x7f) return fmt::format("'{}'", static_cast<char>(raw));
      if (raw < 0x100) return fmt::format("'{}'", escaped(static_cast<std::uint8_t>(raw)));
      return fmt::format("{:#x}", raw);
    case Kind::kEnum:
      return enumeration(type, raw);
    default:
      return fmt::format("{}", raw);
  }
}

std::string ValuePrinter::enumeration(const Type& type, std::uint64_t raw) const {
  const auto bits = static_cast<unsigned>(std::min<std::uint64_t>(type.size().value_or(8), 8) * 8);
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  for (const Enumerator& one : type.enumerators())
    if ((static_cast<std::uint64_t>(one.value) & mask) == raw) return one.name;
  // Flags, if the bits that are set have names, each its own.
  std::string text;
  std::uint64_t left = raw;
  for (const Enumerator& one : type.enumerators()) {
    const std::uint64_t bit = static_cast<std::uint64_t>(one.value) & mask;
    if (bit == 0 || (bit & (bit - 1)) != 0 || (left & bit) == 0) continue;
    text += (text.empty() ? "" : " | ") + one.name;
    left &= ~bit;
  }
  if (!text.empty() && left == 0) return text;
  return fmt::format("{} (no {})", extended(raw, bits),
                     type.name().empty() ? "enumerator" : type.name());
}

std::string ValuePrinter::pointer(const Type* target, std::uint64_t address, int depth) {
  if (address == 0) return "null";
  if (target != nullptr && target->kind() == Kind::kCharacter && target->size() == 1 &&
      depth <= kMostDepth)
    if (std::string text = text_at(address, kMostString + 1, true); text != "?") return text;
  const std::string name = name_of(address);
  if (!name.empty()) return "&" + name;
  const std::string there = context_.description_of ? context_.description_of(address) : "";
  return there.empty() ? fmt::format("{:#x}", address) : "a pointer to " + there;
}

std::string ValuePrinter::scalar(const Type& type, Bytes bytes, int depth) {
  switch (type.kind()) {
    case Kind::kFloat:
      return float_text(bytes);
    case Kind::kPointer:
      return pointer(type.target(), number(bytes, 0, 8), depth);
    case Kind::kReference: {
      const std::uint64_t address = number(bytes, 0, 8);
      const Type* target = type.target();
      if (target != nullptr && depth < kMostDepth) {
        const std::string value = print_at(*target, address, depth + 1);
        if (value != "?") return value;
      }
      return pointer(nullptr, address, depth);
    }
    case Kind::kUnknown:
      return "?";
    default:
      if (bytes.size() > 8) return "?";
      return number_of(type, number(bytes, 0, bytes.size()));
  }
}

std::string ValuePrinter::member(const Member& member, Bytes object, int depth) {
  if (member.offset >= object.size()) return "?";
  if (member.bits != 0 && member.bits <= 64) {
    const std::uint64_t size = (member.bit_offset + member.bits + 7) / 8;
    if (size > 8 || size > object.size() - member.offset) return "?";
    std::uint64_t raw = number(object, member.offset, size) >> member.bit_offset;
    if (member.bits < 64) raw &= (1ull << member.bits) - 1;
    if (member.type->kind() == Kind::kSigned) return fmt::format("{}", extended(raw, member.bits));
    return number_of(*member.type, raw);
  }
  const std::uint64_t size = member.type->size().value_or(0);
  if (size == 0 || size > object.size() - member.offset) return "?";
  return print(*member.type, object.subspan(member.offset, size), depth);
}

std::string ValuePrinter::record(const Type& type, Bytes bytes, int depth) {
  if (depth >= kMostDepth) return "{...}";
  std::string text = "{";
  std::size_t shown = 0;
  for (const Member& one : type.members()) {
    if (is_reserved(one.name)) continue;
    if (one.is_base && one.type->members().empty()) continue;
    if (shown == kShownMembers || text.size() > kMostText) {
      text += ", ...";
      break;
    }
    text += shown++ == 0 ? "" : ", ";
    if (!one.name.empty()) text += one.name + " = ";
    text += member(one, bytes, depth + 1);
  }
  return text + "}";
}

std::string ValuePrinter::array(const Type& type, Bytes bytes, int depth) {
  const Type* element = type.target();
  const std::uint64_t size = element != nullptr ? element->size().value_or(0) : 0;
  if (size == 0) return "?";
  const std::uint64_t count = bytes.size() / size;
  if (element->kind() == Kind::kCharacter && size == 1) {
    std::string text = "\"";
    for (std::uint64_t i = 0; i < count && bytes[i] != 0; ++i) {
      if (i == kMostString) return text + "\"...";
      text += escaped(bytes[i]);
    }
    return text + "\"";
  }
  std::string text = "{";
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i == kShownElements || text.size() > kMostText) {
      text += ", ...";
      break;
    }
    text += (i == 0 ? "" : ", ") + print(*element, bytes.subspan(i * size, size), depth + 1);
  }
  return text + "}";
}

std::string ValuePrinter::print(const Type& type, Bytes bytes, int depth) {
  if (++parts_ > kMostParts || depth > 2 * kMostDepth) return "...";
  if (type.size() && bytes.size() < *type.size()) return "?";
  if (type.size()) bytes = bytes.first(*type.size());
  if (!library_class(type).empty())
    if (auto text = library_value(*this, type, bytes, depth)) return *text;
  if (type.kind() == Kind::kArray) return array(type, bytes, depth);
  if (type.kind() == Kind::kRecord) return record(type, bytes, depth);
  if (type.kind() == Kind::kUnion) return record(type, bytes, depth);
  return scalar(type, bytes, depth);
}

std::string ValuePrinter::print_at(const Type& type, std::uint64_t address, int depth) {
  // A string may be declared only: its layout is part of the library's ABI.
  const std::uint64_t size = type.size().value_or(library_class(type) == "basic_string" ? 32 : 0);
  // Others are not looked into, and need not be known.
  if (size == 0 && !library_class(type).empty()) return fmt::format("({})", library_class(type));
  const auto bytes = read(address, std::min(size, kMostRead));
  if (!bytes) return "?";
  return print(type, *bytes, depth);
}

namespace {

std::string bounded(std::string text) {
  if (text.size() > 2 * kMostText) text = text.substr(0, 2 * kMostText) + "...";
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

}  // namespace

std::string value_text(const Type& type, std::span<const std::uint8_t> bytes,
                       const ValueContext& context) {
  return bounded(ValuePrinter(context).print(type, bytes, 0));
}

std::string value_text_at(const Type& type, std::uint64_t address, const ValueContext& context) {
  return bounded(ValuePrinter(context).print_at(type, address, 0));
}

std::string member_text(const Member& member, std::span<const std::uint8_t> object,
                        const ValueContext& context) {
  return bounded(ValuePrinter(context).member(member, object, 0));
}

}  // namespace clew
