#include "host/names/object_name.h"

#include <fmt/format.h>

namespace clew {

std::string source_text(const ObjectName& name) {
  if (name.kind != ObjectName::Kind::kHeap) return name.path;
  const ObjectName::Heap& heap = name.heap;
  if (heap.part != ObjectName::Heap::Part::kObject || heap.type.empty()) return "";
  const std::string index = heap.index ? fmt::format("[{}]", *heap.index) : "";
  if (!heap.owner.empty() && heap.index) return heap.owner + index + name.path;
  // Of a container of nodes it is not told which; what a map keeps for a key is written like that.
  if (!heap.owner.empty()) {
    constexpr std::string_view kSecond = ".second";
    const bool is_value = heap.type.starts_with("std::pair<") && name.path.starts_with(kSecond);
    return heap.owner + "[...]" + (is_value ? name.path.substr(kSecond.size()) : name.path);
  }
  if (heap.index) return heap.type + index + name.path;
  // ".next" of an Entry is Entry::next.
  if (name.path.starts_with('.')) return fmt::format("{}::{}", heap.type, name.path.substr(1));
  return heap.type + name.path;
}

}  // namespace clew
