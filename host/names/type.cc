#include "host/names/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace clew {
namespace {

// Real classes are nested less deeply; a type that contains itself would be walked for ever.
constexpr int kMostDepth = 64;

// Of the C library, where they are plain structures with plain names.
constexpr std::array<std::string_view, 12> kOfLibc{"pthread_mutex_t",
                                                   "pthread_cond_t",
                                                   "pthread_rwlock_t",
                                                   "pthread_barrier_t",
                                                   "pthread_once_t",
                                                   "pthread_attr_t",
                                                   "sem_t",
                                                   "FILE",
                                                   "pthread_mutexattr_t",
                                                   "pthread_condattr_t",
                                                   "mtx_t",
                                                   "cnd_t"};

std::uint64_t size_of(const Type& type) { return type.size().value_or(0); }

// Whether an access ends here rather than at a part of it.
bool is_whole(const Type& type, std::uint64_t offset, std::uint64_t size) {
  if (offset != 0 || type.kind() == Type::Kind::kArray)
    return offset == 0 && size == size_of(type) && size != 0;
  return size == 0 || size == size_of(type);
}

// The member that covers an access; null: none, or several that it could be.
const Member* covering(const Type& type, std::uint64_t offset, std::uint64_t size) {
  const Member* found = nullptr;
  for (const Member& member : type.members()) {
    if (offset < member.offset) continue;
    if (member.is_base && member.type->size() && member.type->members().empty()) continue;
    const std::uint64_t inside = offset - member.offset;
    std::uint64_t extent =
        member.bits != 0 ? (member.bit_offset + member.bits + 7) / 8 : size_of(*member.type);
    // A class that is only declared extends to the next member.
    if (!member.type->size() && type.kind() == Type::Kind::kRecord) {
      extent = size_of(type) > member.offset ? size_of(type) - member.offset : 0;
      for (const Member& other : type.members())
        if (other.offset > member.offset) extent = std::min(extent, other.offset - member.offset);
    }
    if (inside >= extent) continue;
    if (size > extent - inside && member.bits == 0) continue;
    if (found != nullptr && (type.kind() == Type::Kind::kUnion || member.bits != 0)) return nullptr;
    if (found == nullptr || size_of(*found->type) == 0) found = &member;
  }
  return found;
}

}  // namespace

const Type* Type::target() const {
  if (!target_) target_ = reader_->target_of(*this);
  return *target_;
}

const Type::Parts& Type::parts() const {
  if (!parts_) parts_ = reader_->parts_of(*this);
  return *parts_;
}

bool is_reserved(std::string_view name) {
  return name.size() > 1 && name[0] == '_' &&
         (name[1] == '_' || std::isupper(static_cast<unsigned char>(name[1])) != 0 ||
          name.starts_with("_vptr"));
}

bool Type::is_library() const {
  return name_.starts_with("std::") || name_.starts_with("__gnu_cxx::") || is_reserved(name_) ||
         std::ranges::find(kOfLibc, name_) != kOfLibc.end();
}

const Member* find_member(const Type& type, std::string_view name) {
  // By breadth, bounded: a class may claim to be its own base.
  std::vector<const Type*> level{&type};
  for (int depth = 0; depth < kMostDepth && !level.empty(); ++depth) {
    std::vector<const Type*> next;
    for (const Type* one : level)
      for (const Member& member : one->members()) {
        if (member.name == name) return &member;
        if (member.is_base && next.size() < 64) next.push_back(member.type);
      }
    level = std::move(next);
  }
  return nullptr;
}

std::optional<MemberPath> member_path(const Type& type, std::uint64_t offset, std::uint64_t size) {
  if (type.size() && offset >= std::max<std::uint64_t>(*type.size(), 1)) return std::nullopt;
  MemberPath path{"", &type, offset};
  for (int depth = 0; depth < kMostDepth; ++depth) {
    const Type& now = *path.type;
    if (is_whole(now, path.offset, size) || !now.is_aggregate()) return path;
    if (now.kind() == Type::Kind::kArray) {
      const Type* element = now.target();
      if (element == nullptr || size_of(*element) == 0) return path;
      const std::uint64_t index = path.offset / size_of(*element);
      const std::uint64_t inside = path.offset % size_of(*element);
      if (size > size_of(*element) - inside) return path;
      path = {fmt::format("{}[{}]", path.text, index), element, inside};
      continue;
    }
    const Member* member = covering(now, path.offset, size);
    if (member == nullptr) return path;
    // Of std::array the elements are meant, and of a class of the library what it derives from.
    const bool elements = member->name == "_M_elems" && member->type->kind() == Type::Kind::kArray;
    if (!member->is_base && !elements && is_reserved(member->name)) return path;
    if (member->is_base && now.is_library()) return path;
    path = {member->name.empty() || elements ? path.text : path.text + "." + member->name,
            member->type, path.offset - member->offset};
  }
  return std::nullopt;
}

}  // namespace clew
