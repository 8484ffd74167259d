// The classes of libstdc++, in the terms of who uses them. What they consist of is asked of the
// debug information, not assumed; where that has not the members that it should have, the value is
// printed like any other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "host/names/library_layout.h"
#include "host/names/value_printer.h"

namespace clew {
namespace {

using Bytes = ValuePrinter::Bytes;
using Text = std::optional<std::string>;

// Of containers that are broken: no more than this is walked.
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 40;

std::uint64_t size_of(const Type* type) { return type == nullptr ? 0 : type->size().value_or(0); }

Text string_text(ValuePrinter& printer, const Type& type, Bytes bytes, int) {
  if (const Type* character = argument(type, 0);
      type.size() && character != nullptr && character->size() != 1)
    return std::nullopt;
  if (!type.size() && !type.name().starts_with("std::basic_string<char,")) return std::nullopt;
  const std::uint64_t text = ValuePrinter::number(bytes, 0, 8);
  const std::uint64_t length = ValuePrinter::number(bytes, 8, 8);
  if (bytes.size() < 32 || length > kMostCount) return "? (no std::string)";
  if (length == 0) return "\"\"";
  return printer.text_at(text, length, false);
}

Text string_view_text(ValuePrinter& printer, const Type& type, Bytes bytes, int) {
  const auto text = offset_of(type, "_M_str");
  const auto length = offset_of(type, "_M_len");
  if (!text || !length || size_of(argument(type, 0)) != 1) return std::nullopt;
  const std::uint64_t size = ValuePrinter::number(bytes, *length, 8);
  if (size == 0) return "\"\"";
  return printer.text_at(ValuePrinter::number(bytes, *text, 8), size, false);
}

Text vector_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Type* element = argument(type, 0);
  const auto start = offset_of(type, "_M_impl", "_M_start");
  const auto finish = offset_of(type, "_M_impl", "_M_finish");
  const std::uint64_t size = size_of(element);
  // std::vector<bool> has iterators in these places.
  if (!start || !finish || size == 0 || element->kind() == Type::Kind::kBool) return std::nullopt;
  const std::uint64_t begin = ValuePrinter::number(bytes, *start, 8);
  const std::uint64_t end = ValuePrinter::number(bytes, *finish, 8);
  if (end < begin || (end - begin) % size != 0) return "? (no std::vector)";
  return printer.elements((end - begin) / size, [&](std::uint64_t i) -> Text {
    return printer.print_at(*element, begin + i * size, depth + 1);
  });
}

Text deque_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Type* element = argument(type, 0);
  const std::uint64_t size = size_of(element);
  const auto field = [&](const char* iterator, const char* name) {
    const auto offset = offset_of(type, "_M_impl", iterator, name);
    return offset ? std::optional(ValuePrinter::number(bytes, *offset, 8)) : std::nullopt;
  };
  const auto start = field("_M_start", "_M_cur");
  const auto start_last = field("_M_start", "_M_last");
  const auto start_node = field("_M_start", "_M_node");
  const auto finish = field("_M_finish", "_M_cur");
  const auto finish_first = field("_M_finish", "_M_first");
  const auto finish_node = field("_M_finish", "_M_node");
  if (!start || !start_last || !start_node || !finish || !finish_first || !finish_node || size == 0)
    return std::nullopt;
  const std::uint64_t in_node = size < 512 ? 512 / size : 1;
  const std::uint64_t nodes = (*finish_node - *start_node) / 8;
  if (*finish_node < *start_node || *start_last < *start || *finish < *finish_first ||
      nodes > kMostCount / in_node)
    return "? (no std::deque)";
  const std::uint64_t count = nodes == 0 ? (*finish - *start) / size
                                         : (nodes - 1) * in_node + (*start_last - *start) / size +
                                               (*finish - *finish_first) / size;
  std::uint64_t node = *start_node;
  std::uint64_t at = *start;
  std::uint64_t last = *start_last;
  return printer.elements(count, [&](std::uint64_t) -> Text {
    if (at >= last) {
      node += 8;
      const auto next = printer.word(node);
      if (!next) return std::nullopt;
      at = *next;
      last = at + in_node * size;
    }
    at += size;
    return printer.print_at(*element, at - size, depth + 1);
  });
}

// "{key = value}" for maps, the value itself for sets.
std::string entry_text(ValuePrinter& printer, const Type& value, std::uint64_t address, bool is_map,
                       int depth) {
  const Member* first = find_member(value, "first");
  const Member* second = find_member(value, "second");
  if (!is_map || first == nullptr || second == nullptr)
    return printer.print_at(value, address, depth + 1);
  return fmt::format("[{}] = {}",
                     printer.print_at(*first->type, address + first->offset, depth + 1),
                     printer.print_at(*second->type, address + second->offset, depth + 1));
}

// What the nodes hold: for maps the pair, which only the tree's arguments name.
const Type* tree_value(const Type& type, const char* member, bool is_map) {
  if (!is_map) return argument(type, 0);
  const Member* inner = find_member(type, member);
  return inner == nullptr ? nullptr : argument(*inner->type, 1);
}

Text tree_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const bool is_map = library_class(type).ends_with("map");
  const Type* value = tree_value(type, "_M_t", is_map);
  const auto count = offset_of(type, "_M_t", "_M_impl", "_M_node_count");
  const auto header = offset_of(type, "_M_t", "_M_impl", "_M_header", "_M_left");
  if (value == nullptr || !count || !header) return std::nullopt;
  std::uint64_t node = ValuePrinter::number(bytes, *header, 8);
  // A node: colour, parent, left, right, value.
  constexpr std::uint64_t kParent = 8, kLeft = 16, kRight = 24, kValue = 32;
  return printer.elements(ValuePrinter::number(bytes, *count, 8), [&](std::uint64_t i) -> Text {
    if (i > 0) {
      auto right = printer.word(node + kRight);
      if (!right) return std::nullopt;
      if (*right != 0) {
        node = *right;
        for (int steps = 0; steps < 64; ++steps) {
          const auto left = printer.word(node + kLeft);
          if (!left) return std::nullopt;
          if (*left == 0) break;
          node = *left;
        }
      } else {
        for (int steps = 0;; ++steps) {
          const auto parent = printer.word(node + kParent);
          if (!parent || steps > 64) return std::nullopt;
          right = printer.word(*parent + kRight);
          const bool from_right = right && *right == node;
          node = *parent;
          if (!from_right) break;
        }
      }
    }
    return entry_text(printer, *value, node + kValue, is_map, depth);
  });
}

Text hash_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const bool is_map = library_class(type).ends_with("map");
  const Type* value = tree_value(type, "_M_h", is_map);
  const auto count = offset_of(type, "_M_h", "_M_element_count");
  const auto first = offset_of(type, "_M_h", "_M_before_begin", "_M_nxt");
  if (value == nullptr || !count || !first) return std::nullopt;
  std::uint64_t node = ValuePrinter::number(bytes, *first, 8);
  return printer.elements(ValuePrinter::number(bytes, *count, 8), [&](std::uint64_t i) -> Text {
    if (i > 0) {
      const auto next = printer.word(node);
      if (!next) return std::nullopt;
      node = *next;
    }
    if (node == 0) return std::nullopt;
    return entry_text(printer, *value, node + 8, is_map, depth);
  });
}

Text list_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Type* element = argument(type, 0);
  const auto first = offset_of(type, "_M_impl", "_M_node", "_M_next");
  const auto count = offset_of(type, "_M_impl", "_M_node", "_M_size");
  if (element == nullptr || !first || !count) return std::nullopt;
  std::uint64_t node = ValuePrinter::number(bytes, *first, 8);
  return printer.elements(ValuePrinter::number(bytes, *count, 8), [&](std::uint64_t i) -> Text {
    if (i > 0) {
      const auto next = printer.word(node);
      if (!next) return std::nullopt;
      node = *next;
    }
    return printer.print_at(*element, node + 16, depth + 1);
  });
}

std::string pointed_at(ValuePrinter& printer, const Type* target, std::uint64_t address,
                       int depth) {
  if (address == 0) return "null";
  if (target == nullptr || depth > 1) return printer.pointer(nullptr, address, depth);
  const std::string value = printer.print_at(*target, address, depth + 1);
  return value == "?" ? printer.pointer(nullptr, address, depth)
                      : fmt::format("{} -> {}", printer.pointer(nullptr, address, depth), value);
}

Text unique_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  // The pointer is the only thing in it that is not empty, unless the deleter has something.
  if (bytes.size() != 8) return std::nullopt;
  return pointed_at(printer, argument(type, 0), ValuePrinter::number(bytes, 0, 8), depth);
}

Text shared_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const auto pointer = offset_of(type, "_M_ptr");
  const auto block = offset_of(type, "_M_refcount", "_M_pi");
  if (!pointer || !block) return std::nullopt;
  const std::uint64_t counts = ValuePrinter::number(bytes, *block, 8);
  std::string text =
      pointed_at(printer, argument(type, 0), ValuePrinter::number(bytes, *pointer, 8), depth);
  // Behind the pointer to the virtual table.
  if (counts != 0)
    if (const auto both = printer.word(counts + 8))
      text += fmt::format(" (use count {})", *both & 0xffff'ffff);
  return text;
}

Text weak_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const auto block = offset_of(type, "_M_refcount", "_M_pi");
  const std::uint64_t counts = block ? ValuePrinter::number(bytes, *block, 8) : 0;
  // What it pointed to is gone.
  const auto both = counts != 0 ? printer.word(counts + 8) : std::nullopt;
  if (both && (*both & 0xffff'ffff) == 0) return "expired";
  return shared_text(printer, type, bytes, depth);
}

Text optional_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Type* value = argument(type, 0);
  const auto engaged = offset_of(type, "_M_payload", "_M_engaged");
  const auto payload = offset_of(type, "_M_payload", "_M_payload");
  if (value == nullptr || !engaged || !payload || size_of(value) == 0) return std::nullopt;
  if (ValuePrinter::number(bytes, *engaged, 1) == 0) return "nullopt";
  if (*payload > bytes.size() || size_of(value) > bytes.size() - *payload) return std::nullopt;
  return printer.print(*value, bytes.subspan(*payload, size_of(value)), depth);
}

Text atomic_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Type* value = argument(type, 0);
  if (value == nullptr && type.name() == "std::atomic_flag")
    return bytes.empty() ? std::nullopt : Text(bytes[0] != 0 ? "set" : "clear");
  if (value == nullptr || size_of(value) == 0 || size_of(value) > bytes.size()) return std::nullopt;
  return printer.print(*value, bytes.first(size_of(value)), depth);
}

// Adapters and wrappers: what they hold.
template <const char* kName>
Text member_of_it(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Member* inner = find_member(type, kName);
  if (inner == nullptr) return std::nullopt;
  return printer.member(*inner, bytes, depth);
}
constexpr char kContainer[] = "c";
constexpr char kElements[] = "_M_elems";
constexpr char kTicks[] = "__r";  // in the units that the type says

Text pair_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Member* first = find_member(type, "first");
  const Member* second = find_member(type, "second");
  if (first == nullptr || second == nullptr) return std::nullopt;
  return fmt::format("({}, {})", printer.member(*first, bytes, depth + 1),
                     printer.member(*second, bytes, depth + 1));
}

// The elements of a tuple, in their order: each is in a base of its own.
void find_elements(const Type& type, std::uint64_t offset,
                   std::vector<std::pair<const Type*, std::uint64_t>>& found) {
  constexpr std::size_t kMost = 64;
  for (const Member& base : type.members()) {
    if (!base.is_base || library_class(*base.type) != "_Head_base") continue;
    const Member* element = find_member(*base.type, "_M_head_impl");
    const auto inside = offset_of(*base.type, "_M_head_impl");
    if (element != nullptr && inside)
      found.emplace_back(element->type, offset + base.offset + *inside);
  }
  for (const Member& base : type.members())
    if (base.is_base && library_class(*base.type) == "_Tuple_impl" && found.size() < kMost)
      find_elements(*base.type, offset + base.offset, found);
}

Text tuple_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  std::vector<std::pair<const Type*, std::uint64_t>> elements;
  find_elements(type, 0, elements);
  // An element without members is none of the bases.
  if (elements.size() != type.arguments().size()) return std::nullopt;
  std::string text = "(";
  for (const auto& [element, offset] : elements) {
    if (offset > bytes.size()) return std::nullopt;
    text +=
        (text.size() > 1 ? ", " : "") + printer.print(*element, bytes.subspan(offset), depth + 1);
  }
  return text + ")";
}

// All alternatives begin where the union does.
Text variant_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const auto index = offset_of(type, "_M_index");
  const auto value = offset_of(type, "_M_u");
  if (!index || !value || *index >= bytes.size() || *value > bytes.size()) return std::nullopt;
  const std::uint8_t which = bytes[*index];
  constexpr std::uint8_t kNone = 0xff;  // left by an exception
  if (which == kNone) return "valueless";
  const Type* alternative = argument(type, which);
  if (alternative == nullptr) return std::nullopt;
  return printer.print(*alternative, bytes.subspan(*value), depth);
}

Text forward_list_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Type* element = argument(type, 0);
  const auto first = offset_of(type, "_M_impl", "_M_head", "_M_next");
  if (element == nullptr || !first) return std::nullopt;
  std::uint64_t node = ValuePrinter::number(bytes, *first, 8);
  // It has no count; of a long one the nodes are not all visited.
  constexpr std::uint64_t kMostNodes = 1'000;
  std::vector<std::uint64_t> nodes;
  while (node != 0) {
    if (nodes.size() == kMostNodes) return std::nullopt;
    nodes.push_back(node);
    const auto next = printer.word(node);
    if (!next) break;
    node = *next;
  }
  return printer.elements(nodes.size(), [&](std::uint64_t i) -> Text {
    return printer.print_at(*element, nodes[i] + 8, depth + 1);
  });
}

Text span_text(ValuePrinter& printer, const Type& type, Bytes bytes, int depth) {
  const Type* element = argument(type, 0);
  const auto pointer = offset_of(type, "_M_ptr");
  const auto count = offset_of(type, "_M_extent", "_M_extent_value");
  const std::uint64_t size = size_of(element);
  if (!pointer || !count || size == 0) return std::nullopt;
  const std::uint64_t begin = ValuePrinter::number(bytes, *pointer, 8);
  return printer.elements(ValuePrinter::number(bytes, *count, 8), [&](std::uint64_t i) -> Text {
    return printer.print_at(*element, begin + i * size, depth + 1);
  });
}

// Nothing in them that means something to who uses them.
Text opaque_text(ValuePrinter&, const Type& type, Bytes, int) {
  return fmt::format("({})", library_class(type));
}

bool has_open_members(const Type& type, int depth) {
  constexpr int kMostBases = 8;
  return depth < kMostBases && std::ranges::any_of(
                                   type.members(),
                                   [&](const Member& member) {
                                     return member.is_base
                                                ? has_open_members(*member.type, depth + 1)
                                                : !is_reserved(member.name);
                                   });
}

using Print = Text (*)(ValuePrinter&, const Type&, Bytes, int);
const std::map<std::string_view, Print>& printers() {
  static const std::map<std::string_view, Print> kPrinters{
      {"basic_string", string_text},
      {"basic_string_view", string_view_text},
      {"vector", vector_text},
      {"deque", deque_text},
      {"map", tree_text},
      {"multimap", tree_text},
      {"set", tree_text},
      {"multiset", tree_text},
      {"unordered_map", hash_text},
      {"unordered_multimap", hash_text},
      {"unordered_set", hash_text},
      {"unordered_multiset", hash_text},
      {"list", list_text},
      {"unique_ptr", unique_text},
      {"shared_ptr", shared_text},
      {"weak_ptr", weak_text},
      {"optional", optional_text},
      {"atomic", atomic_text},
      {"atomic_flag", atomic_text},
      {"queue", member_of_it<kContainer>},
      {"stack", member_of_it<kContainer>},
      {"priority_queue", member_of_it<kContainer>},
      {"array", member_of_it<kElements>},
      {"pair", pair_text},
      {"tuple", tuple_text},
      {"variant", variant_text},
      {"forward_list", forward_list_text},
      {"span", span_text},
      {"chrono::duration", member_of_it<kTicks>},
      {"mutex", opaque_text},
      {"recursive_mutex", opaque_text},
      {"timed_mutex", opaque_text},
      {"shared_mutex", opaque_text},
      {"condition_variable", opaque_text},
      {"condition_variable_any", opaque_text},
      {"thread", opaque_text},
      {"jthread", opaque_text},
      {"function", opaque_text},
      {"unique_lock", opaque_text},
      {"lock_guard", opaque_text},
      {"scoped_lock", opaque_text},
  };
  return kPrinters;
}

}  // namespace

std::optional<std::string> library_value(ValuePrinter& printer, const Type& type, Bytes bytes,
                                         int depth) {
  const auto found = printers().find(library_class(type));
  if (found != printers().end())
    if (auto text = found->second(printer, type, bytes, depth)) return text;
  // Only what its users may name is worth showing.
  if (type.kind() == Type::Kind::kRecord && !has_open_members(type, 0))
    return opaque_text(printer, type, bytes, depth);
  return std::nullopt;
}

}  // namespace clew
