#include "host/report/object_words.h"

#include <fmt/format.h>

#include <filesystem>

#include "host/report/names.h"
#include "host/report/words.h"

namespace clew {
namespace {

using Heap = ObjectName::Heap;

std::string quoted(const std::string& code) {
  return fmt::format("`{}`", printable(short_type(code)));
}

std::string at_text(const std::optional<Location>& at) {
  if (!at || at->file.empty()) return "";
  return fmt::format(" at {}:{}", printable(std::filesystem::path(at->file).filename().string()),
                     at->line);
}

std::string by_text(const std::string& thread) {
  return thread.empty() ? "" : " by " + printable(thread);
}

std::string provenance(const Heap& heap) {
  std::string text = "allocated" + at_text(heap.allocated_at) + by_text(heap.allocated_by);
  if (heap.freed) text += ", freed" + at_text(heap.freed_at) + by_text(heap.freed_by);
  return text;
}

constexpr std::string_view kThreadWords = "the function and arguments of a `std::thread`";

std::string heap_object(const ObjectName& name) {
  const Heap& heap = name.heap;
  switch (heap.part) {
    case Heap::Part::kControlBlock:
      return fmt::format("the control block of a {}",
                         quoted(fmt::format("shared_ptr<{}>", heap.type)));
    case Heap::Part::kThread:
      return std::string(kThreadWords);
    case Heap::Part::kLibrary:
      return "data of the C++ library";
    case Heap::Part::kObject:
      break;
  }
  if (const std::string code = source_text(name); !code.empty()) return quoted(code);
  return name.offset == 0 ? fmt::format("{} of memory", counted(heap.size, "byte"))
                          : fmt::format("byte {} of {} of memory", with_commas(name.offset),
                                        counted(heap.size, "byte"));
}

// A function of the user's own by its name; others are not worth a word.
std::string of_function(const std::string& function) {
  return function.empty() ? "" : " of " + printable(function_text(function));
}

}  // namespace

std::string short_object_words(const ObjectName& name) {
  if (name.kind == ObjectName::Kind::kTemporary) return "an unnamed object";
  if (name.kind == ObjectName::Kind::kFrame) return "memory in a frame";
  if (name.kind != ObjectName::Kind::kHeap) return printable(short_type(name.path));
  if (name.heap.part == Heap::Part::kThread) return "arguments of std::thread";
  if (name.heap.part == Heap::Part::kControlBlock)
    return fmt::format("control block of {}", printable(short_type(name.heap.type)));
  if (name.heap.part == Heap::Part::kLibrary) return "data of the C++ library";
  const std::string code = source_text(name);
  return code.empty() ? "memory allocated" + at_text(name.heap.allocated_at)
                      : printable(short_type(code));
}

std::string object_words_again(const ObjectName& name) {
  if (name.kind == ObjectName::Kind::kHeap && name.heap.part == Heap::Part::kControlBlock)
    return fmt::format("the control block of the {}", quoted(name.heap.type));
  if (name.kind == ObjectName::Kind::kHeap) return heap_object(name);
  if (name.kind == ObjectName::Kind::kTemporary) return "the unnamed object";
  if (name.kind == ObjectName::Kind::kFrame) return "the memory in the frame";
  return name.known() ? quoted(name.path) : "";
}

std::string object_words(const ObjectName& name, std::string_view by) {
  const std::string other =
      name.thread.empty() || name.thread == by ? "" : " in " + printable(name.thread);
  switch (name.kind) {
    case ObjectName::Kind::kUnknown:
      return "";
    case ObjectName::Kind::kGlobal:
      return name.function.empty() ? quoted(name.path)
                                   : fmt::format("{} (a static variable{})", quoted(name.path),
                                                 of_function(name.function));
    case ObjectName::Kind::kPointee:
    case ObjectName::Kind::kSymbol:
      return quoted(name.path);
    case ObjectName::Kind::kThreadLocal:
      return fmt::format("{} (thread-local{})", quoted(name.path),
                         name.thread.empty() ? "" : ", of " + printable(name.thread));
    case ObjectName::Kind::kLocal:
      return fmt::format("{} (a variable{}{})", quoted(name.path), of_function(name.function),
                         other);
    case ObjectName::Kind::kTemporary:
      return fmt::format("an unnamed object{}{}", of_function(name.function), other);
    case ObjectName::Kind::kFrame:
      return fmt::format("memory in the frame{}{}", of_function(name.function), other);
    case ObjectName::Kind::kHeap:
      return fmt::format("{} ({})", heap_object(name), provenance(name.heap));
  }
  return "";
}

}  // namespace clew
