#include "host/names/library_layout.h"

#include <string>
#include <utility>
#include <vector>

namespace clew {

std::string_view library_class(const Type& type) {
  if (type.kind() != Type::Kind::kRecord) return {};
  std::string_view name = type.name();
  if (!name.starts_with("std::")) return {};
  name.remove_prefix(5);
  return name.substr(0, name.find('<'));
}

std::optional<std::uint64_t> offset_of(const Type& type,
                                       std::initializer_list<std::string_view> names) {
  const Type* at = &type;
  std::uint64_t offset = 0;
  for (const std::string_view name : names) {
    const Member* found = nullptr;
    // Offsets of bases count; the search is by breadth as find_member() has it.
    std::vector<std::pair<const Type*, std::uint64_t>> level{{at, offset}};
    for (int depth = 0; depth < 8 && found == nullptr && !level.empty(); ++depth) {
      std::vector<std::pair<const Type*, std::uint64_t>> next;
      for (const auto& [one, base] : level) {
        for (const Member& member : one->members()) {
          if (member.name == name) {
            found = &member;
            offset = base + member.offset;
            break;
          }
          if (member.is_base && next.size() < 32)
            next.emplace_back(member.type, base + member.offset);
        }
        if (found != nullptr) break;
      }
      level = std::move(next);
    }
    if (found == nullptr) return std::nullopt;
    at = found->type;
  }
  return offset;
}

const Type* argument(const Type& type, std::size_t index) {
  const auto& arguments = type.arguments();
  return index < arguments.size() ? arguments[index].type : nullptr;
}

std::optional<StoredValue> stored_value(const Type& type) {
  using Holder = StoredValue::Holder;
  std::string_view name = library_class(type);
  // Where libstdc++ has the nodes of unordered containers.
  if (name.starts_with("__detail::")) name.remove_prefix(10);
  const Type* value = argument(type, 0);
  if (value == nullptr) return std::nullopt;
  if (name == "_Rb_tree_node" || name == "_List_node" || name == "_Hash_node" ||
      name == "_Fwd_list_node") {
    const auto offset = offset_of(type, "_M_storage");
    if (!offset) return std::nullopt;
    return StoredValue{Holder::kNode, value, offset};
  }
  if (name == "_Sp_counted_ptr_inplace") {
    const auto offset = offset_of(type, "_M_impl", "_M_storage");
    if (!offset) return std::nullopt;
    return StoredValue{Holder::kControlBlock, value, offset};
  }
  if (name == "_Sp_counted_ptr" || name == "_Sp_counted_deleter") {
    const Type* target = value->kind() == Type::Kind::kPointer ? value->target() : nullptr;
    if (target == nullptr) return std::nullopt;
    return StoredValue{Holder::kControlBlock, target, std::nullopt};
  }
  return std::nullopt;
}

}  // namespace clew
