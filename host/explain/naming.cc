#include "host/explain/naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "host/names/part_text.h"
#include "host/names/sync_name.h"
#include "host/names/value_text.h"
#include "host/recording/file.h"

namespace clew {
namespace {

constexpr int kMostDepth = 4;  // pointers that are followed back
constexpr std::uint64_t kStackReach = std::uint64_t{8} << 20;
constexpr std::size_t kMostSourceBytes = std::size_t{8} << 20;

// As DWARF numbers what instructions number as rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi.
unsigned dwarf_number(int reg) {
  constexpr unsigned kFirst[] = {0, 2, 1, 3, 7, 6, 4, 5};
  return reg < 8 ? kFirst[reg] : static_cast<unsigned>(reg);
}

// A type of the user's by its name; those of templates are the library's business mostly.
bool is_plain(const std::string& type) {
  return !type.empty() && !type.contains('<') && !type.starts_with("std::");
}

// The second argument of std::pair<A, B>; empty: it is no pair.
std::string second_of(const std::string& type) {
  constexpr std::string_view kPair = "std::pair<";
  if (!type.starts_with(kPair) || !type.ends_with('>')) return "";
  int depth = 0;
  for (std::size_t i = kPair.size(); i + 1 < type.size(); ++i) {
    depth += (type[i] == '<' || type[i] == '(') - (type[i] == '>' || type[i] == ')');
    if (depth != 0 || type[i] != ',') continue;
    const std::size_t begin = type.find_first_not_of(' ', i + 1);
    std::size_t end = type.size() - 1;
    while (end > begin && type[end - 1] == ' ') --end;
    return type.substr(begin, end - begin);
  }
  return "";
}

// Without what says no more than that it is of this file.
std::string short_type(const std::string& type) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  return type.starts_with(kAnonymous) ? type.substr(kAnonymous.size()) : type;
}

// A variable, or what the compiler has put there: a virtual table is told by its class; those of the library and its functions are not told apart.
std::string symbol_text(const std::string& symbol) {
  if (symbol.starts_with("std::") && symbol.contains('(')) return "a function of the C++ library";
  constexpr std::string_view kTable = "vtable for ";
  if (!symbol.starts_with(kTable)) return symbol;
  const std::string of = symbol.substr(kTable.size(), symbol.rfind('+') - kTable.size());
  return is_plain(of) ? "the virtual table of " + short_type(of) : "a virtual table";
}

// What keeps the counts of a shared_ptr. Where libstdc++ has the first of them is part of its ABI.
std::string control_block_name(const ObjectName::Heap& heap, std::uint32_t size) {
  constexpr std::uint64_t kUseCount = 8;
  constexpr std::uint32_t kCountSize = 4;  // it is read together with the count behind it, too
  const std::string holder = "shared_ptr<" + short_type(heap.type) + ">";
  return heap.inside == kUseCount && size == kCountSize ? holder + "::use_count()"
                                                        : "control block of a " + holder;
}

// How memory of the allocator is called by what it is part of: "Entry.next", and of what a map keeps,
// a pair, the value alone, "shop::Item.count". Empty: only by the library's own types.
std::string heap_name(const ObjectName& name, std::uint32_t size) {
  constexpr std::string_view kSecond = ".second";
  if (name.heap.part == ObjectName::Heap::Part::kControlBlock)
    return control_block_name(name.heap, size);
  if (name.heap.part == ObjectName::Heap::Part::kLibrary) return "";
  if (name.heap.part == ObjectName::Heap::Part::kObject && !name.heap.owner.empty())
    return source_text(name);
  // An element of a container of numbers has none.
  if (name.path.empty() && name.type != nullptr && !name.type->is_aggregate()) return "";
  const std::string index = name.heap.index ? fmt::format("[{}]", *name.heap.index) : "";
  if (is_plain(name.heap.type)) return short_type(name.heap.type) + index + name.path;
  const std::string value = second_of(name.heap.type);
  if (value.empty() || !name.path.starts_with(kSecond)) return "";
  const std::string rest = name.path.substr(kSecond.size());
  // A number that is kept for a key is not called by its type.
  if (rest.empty() && name.type != nullptr && !name.type->is_aggregate()) return "element.second";
  return is_plain(value) ? short_type(value) + rest : "element.second" + rest;
}

std::string file_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

Naming::Naming(TracedPair& pair) : pair_(pair) {
  for (const WhichRun side : {kFailing, kPassing}) {
    names_[side] = std::make_unique<RunNames>(pair.symbols(side));
    of_run_[side] = std::make_unique<TraceNames>(pair.trace(side), pair.result(side),
                                                 pair.symbols(side), *names_[side]);
  }
}

bool Naming::is_on_stack(WhichRun side, std::uint64_t address) const {
  const RunTrace& run = pair_.trace(side);
  for (std::size_t thread = 0; thread < run.thread_count(); ++thread) {
    const std::uint64_t top = run.stack_top(thread);
    if (top != 0 && address < top && address + kStackReach > top) return true;
  }
  return false;
}

std::optional<Naming::Named> Naming::by_pointer(WhichRun side, Instance at, std::uint64_t address,
                                                std::uint32_t size, int depth) {
  const RunTrace& run = pair_.trace(side);
  const Instruction& code = run.instruction(at);
  if (code.base < 0 || depth >= kMostDepth) return std::nullopt;
  // What the instruction's operand says is said of the memory that it accesses, and of nothing else.
  const auto [low, high] = run.accesses(at);
  if (std::ranges::none_of(std::views::iota(low, high), [&](std::uint32_t i) {
        return run.access_address(at.step, i) == address;
      }))
    return std::nullopt;
  std::optional<Named> pointer;
  std::uint64_t offset = static_cast<std::uint64_t>(code.displacement);
  const auto variable = names_[side]->variable_in_register(code.address, dwarf_number(code.base));
  if (variable && variable->type != nullptr && !is_reserved(variable->name)) {
    pointer = Named{variable->name, variable->type, true, false};
  } else {
    const Instance made = pair_.run(side).definition(at, code.base);
    if (!made.valid() || made.step >= RunTrace::kFromOutside || !run.instruction(made).copies)
      return std::nullopt;
    const auto [first, end] = run.accesses(made);
    if (first == end || run.access(made.step, first).kind != AccessKind::kRead ||
        !run.access(made.step, first).has_value)
      return std::nullopt;
    pointer = find(side, made, run.access_address(made.step, first),
                   run.access(made.step, first).size, depth + 1);
    offset = address - run.access_value(made.step, first);
  }
  if (!pointer || pointer->type == nullptr || !pointer->type->is_pointer() ||
      pointer->type->target() == nullptr)
    return std::nullopt;
  const auto path = member_path(*pointer->type->target(), offset, size);
  if (!path) return std::nullopt;
  Named result{pointer->name, path->type, false, false, path->offset};
  if (path->text.starts_with('.')) {
    result.name += "->" + path->text.substr(1);
  } else {
    result.name =
        path->text.empty() ? "*" + pointer->name : "(*" + pointer->name + ")" + path->text;
  }
  if (result.name.starts_with("this->")) result.name = result.name.substr(6);
  return result;
}

std::optional<Naming::Named> Naming::find(WhichRun side, Instance at, std::uint64_t address,
                                          std::uint32_t size, int depth) {
  const ObjectName name = of_run_[side]->name(address, size, at.step);
  switch (name.kind) {
    case ObjectName::Kind::kGlobal:
    case ObjectName::Kind::kThreadLocal:
    case ObjectName::Kind::kSymbol:
      return Named{name.path, name.type, false, false, name.offset};
    case ObjectName::Kind::kLocal:
      return Named{name.path, name.type, true, is_reserved(name.path), name.offset};
    case ObjectName::Kind::kPointee:
    case ObjectName::Kind::kTemporary:
    case ObjectName::Kind::kFrame:
    case ObjectName::Kind::kHeap:
    case ObjectName::Kind::kUnknown:
      break;
  }
  if (is_on_stack(side, address)) return Named{"", nullptr, true, true};
  const auto by_operand = by_pointer(side, at, address, size, depth);
  const std::string heap = name.kind == ObjectName::Kind::kHeap ? heap_name(name, size) : "";
  // Within a function of the library's, `this` is an object that the user knows by another name.
  const bool of_library =
      by_operand && by_operand->name == "*this" &&
      (!heap.empty() || by_operand->type == nullptr || by_operand->type->is_library());
  if (by_operand && !of_library) return by_operand;
  if (heap.empty()) return std::nullopt;
  // What a container of numbers or pointers keeps has a name by its place alone: what belongs together is not told by that, as if it were made up.
  const bool by_place =
      name.heap.index && !name.heap.owner.empty() && name.path.empty() &&
      (name.type == nullptr || !name.type->is_aggregate() || name.type->is_library());
  return Named{heap, name.type, false, by_place, name.offset};
}

std::optional<Naming::Named> Naming::memory(WhichRun side, Instance at, std::uint64_t address,
                                            std::uint32_t size) {
  return find(side, at, address, size, 0);
}

std::string Naming::sync_object(WhichRun side, Instance at, std::uint64_t address) {
  // A class whose first member it is has the same address: its size tells which is meant.
  for (const std::uint32_t size : kSyncSizes) {
    const auto found = memory(side, at, address, size);
    if (found && !found->name.empty() && found->type != nullptr && found->type->size() == size)
      return found->name;
  }
  const auto found = memory(side, at, address, 0);
  return found ? found->name : "";
}

std::optional<Naming::Named> Naming::in_register(WhichRun side, Instance at, int reg) {
  const Instruction& code = pair_.trace(side).instruction(at);
  const auto variable = names_[side]->variable_in_register(code.next(), dwarf_number(reg));
  if (!variable) return std::nullopt;
  return Named{variable->name, variable->type, true, false};
}

std::string Naming::line(WhichRun side, Instance at) {
  const CodePlace& place = pair_.place(side, at);
  return place.line == 0 ? "?" : fmt::format("{}:{}", file_name(place.file), place.line);
}

std::string Naming::pointed_to(WhichRun side, Instance at, std::uint64_t address) {
  const std::string name = pointed_name(side, at, address);
  return name.empty() ? pointed_memory(side, at, address) : name;
}

std::string Naming::pointed_name(WhichRun side, Instance at, std::uint64_t address) {
  const ObjectName name = of_run_[side]->name(address, 0, at.step);
  // What is known by a pointer alone may be known by the very one that is told.
  if (name.kind == ObjectName::Kind::kHeap || name.kind == ObjectName::Kind::kPointee) return "";
  return name.path.empty() ? "" : symbol_text(name.path);
}

std::string Naming::pointed_memory(WhichRun side, Instance at, std::uint64_t address) {
  const ObjectName name = of_run_[side]->name(address, 0, at.step);
  const RunTrace& run = pair_.trace(side);
  const auto line_of = [&](const Allocation& made) {
    return line(side, {made.made, run.steps()[made.made].executed - 1u});
  };
  const Allocation* heap = run.allocation(address, at.step);
  if (heap == nullptr) {
    const Allocation* before = run.allocation(address - 1, at.step);
    if (before == nullptr || before->address + before->size != address) return "";
    return fmt::format("the end of the {} bytes allocated at {}", before->size, line_of(*before));
  }
  const bool typed = is_plain(name.heap.type) || short_type(name.heap.type) == "std::string";
  const std::uint64_t inside = typed ? name.heap.inside : address - heap->address;
  std::string text = inside == 0 ? "" : fmt::format("byte {} of ", inside);
  if (!typed)
    text += fmt::format("the {} bytes", heap->size);
  else if (name.heap.part == ObjectName::Heap::Part::kControlBlock)
    text += fmt::format("the control block of the {}", short_type(name.heap.type));
  else if (name.heap.index)
    text +=
        fmt::format("element {} of the array of {}", *name.heap.index, short_type(name.heap.type));
  else
    text += "the " + short_type(name.heap.type);
  return fmt::format("{} allocated at {}", text, line_of(*heap));
}

std::string Naming::value(WhichRun side, Instance at, std::uint64_t value, std::uint32_t size,
                          const Named* of) {
  const Type* type = of != nullptr ? of->type : nullptr;
  std::uint8_t bytes[8];
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
  const ValueContext context{
      .read =
          [&](std::uint64_t address, std::span<std::uint8_t> into) {
            const auto known = pair_.code().constant(address);
            if (known.size() < into.size()) return false;
            std::ranges::copy(known.first(into.size()), into.begin());
            return true;
          },
      .name_of = [&](std::uint64_t address) { return pointed_name(side, at, address); },
      .description_of = [&](std::uint64_t address) { return pointed_memory(side, at, address); }};
  if (type != nullptr && type->size() == size && size <= 8 && !type->is_aggregate())
    return value_text(*type, std::span(bytes).first(size), context);
  // A wider access than the variable, which is no element of an array: what lies behind it is something else.
  if (type != nullptr && !type->is_aggregate() && type->size().value_or(size) < size &&
      of->offset == 0 && !of->name.ends_with(']'))
    return value_text(*type, std::span(bytes).first(*type->size()), context);
  const bool is_part = type != nullptr && (type->is_aggregate() || type->size() < size);
  const std::size_t known = std::min<std::size_t>(size, sizeof bytes);
  if (is_part)
    if (const std::string parts =
            part_text(*type, of->offset, std::span(bytes).first(known), context);
        !parts.empty())
      return size > sizeof bytes ? parts + "..." : parts;
  if (size > 8) return fmt::format("{:#x}...", value);
  // A character of a string.
  if (size == 1 && type != nullptr && type->is_aggregate() && value >= ' ' && value < 0x7f)
    return fmt::format("'{}'", static_cast<char>(value));
  if (size == 8 && value > 0xffff)
    if (const std::string there = pointed_to(side, at, value); !there.empty())
      return "a pointer to " + there;
  const unsigned shift = 64 - 8 * size;
  return fmt::format("{}", static_cast<std::int64_t>(value << shift) >> shift);
}

std::string Naming::text(const CodePlace& place) {
  if (place.line == 0) return "";
  const auto [known, added] = sources_.try_emplace(place.file);
  if (added) {
    if (const auto bytes = read_file_start(place.file, kMostSourceBytes)) {
      std::string line;
      for (const std::uint8_t byte : *bytes) {
        if (byte != '\n') {
          line += static_cast<char>(byte);
          continue;
        }
        known->second.push_back(std::move(line));
        line.clear();
      }
      known->second.push_back(std::move(line));
    }
  }
  if (place.line > known->second.size()) return "";
  const std::string& line = known->second[place.line - 1];
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  const std::size_t last = line.find_last_not_of(" \t\r");
  return line.substr(first, last - first + 1);
}

}  // namespace clew
