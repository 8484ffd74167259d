// Where in the classes of libstdc++ lies what their users put there. Only what the debug information
// says of them is used.
#ifndef CLEW_HOST_NAMES_LIBRARY_LAYOUT_H_
#define CLEW_HOST_NAMES_LIBRARY_LAYOUT_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "host/names/type.h"

namespace clew {

// "vector" of "std::vector<int, ...>"; empty: not of the standard library.
[[nodiscard]] std::string_view library_class(const Type& type);

// Where a member of a member lies, by their names. Members of bases are the class's own.
[[nodiscard]] std::optional<std::uint64_t> offset_of(const Type& type,
                                                     std::initializer_list<std::string_view> names);
template <class... Names>
std::optional<std::uint64_t> offset_of(const Type& type, const Names&... names) {
  return offset_of(type, {std::string_view(names)...});
}

// The type that a class has as an argument; null: it has none there.
[[nodiscard]] const Type* argument(const Type& type, std::size_t index);

// What containers and smart pointers allocate: nodes and control blocks.
struct StoredValue {
  enum class Holder : std::uint8_t { kNode, kControlBlock };
  Holder holder = Holder::kNode;
  const Type* value = nullptr;  // of the user's
  // Where in it. Nothing: it lies elsewhere, the control block has a pointer to it.
  std::optional<std::uint64_t> offset;
};
[[nodiscard]] std::optional<StoredValue> stored_value(const Type& type);

}  // namespace clew

#endif  // CLEW_HOST_NAMES_LIBRARY_LAYOUT_H_
