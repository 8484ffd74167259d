#include "host/model/point_flow.h"

#include <algorithm>
#include <optional>

#include "clew_abi/point.h"
#include "host/elf/elf_file.h"
#include "host/symbolize/maps.h"

namespace clew {
namespace {

// Calls within calls that are followed. Chosen, not measured.
constexpr int kDeepest = 200;
// A larger program is taken as runs show it. Chosen, not measured: a second of reading.
constexpr std::uint64_t kMostCode = std::uint64_t{8} << 20;

constexpr std::uint8_t kFsPrefix = 0x64;

// How a branch goes if the result before it was negative.
enum class Sign : std::uint8_t { kOther, kTarget, kNext };
Sign sign_of(std::span<const std::uint8_t> bytes) {
  const bool near = bytes.size() >= 2 && bytes[0] == 0x0f;
  if (bytes.empty()) return Sign::kOther;
  const std::uint8_t opcode = near ? static_cast<std::uint8_t>(bytes[1] - 0x10) : bytes[0];
  return opcode == 0x78 ? Sign::kTarget : opcode == 0x79 ? Sign::kNext : Sign::kOther;
}

// What to add to an address of the file to get the process's.
std::optional<std::uint64_t> bias_of(const std::string& path, const ElfFile& file,
                                     const Maps& maps) {
  for (const Mapping& mapping : maps.all()) {
    if (mapping.path != path) continue;
    if (const auto linked = file.address_of_offset(mapping.offset)) return mapping.start - *linked;
  }
  return std::nullopt;
}

std::span<const std::uint8_t> as_code(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

PointFlow::PointFlow(const Reports& reports, std::span<const abi::Place> places) {
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    const abi::Place place = places[i];
    if (place & 1) {
      position_of_return_[place >> 1] = i;
    } else {
      position_of_point_[place >> 1] = i;
    }
  }
  for (const ModuleInfo& module : reports.modules) read(module, reports);
  for (const auto& [at, instruction] : code_)
    if (instruction.flow == Flow::kCall && functions_.contains(instruction.target))
      returns_to_[instruction.target].push_back(instruction.next());
}

void PointFlow::read(const ModuleInfo& module, const Reports& reports) {
  auto file = ElfFile::open(module.path);
  if (!file) return;
  const auto section = file->section(CLEW_POINT_SECTION);
  const auto bias = bias_of(module.path, *file, Maps(reports.maps));
  if (!section || !bias) return;
  std::uint64_t size = 0;
  for (const ElfFile::Symbol& symbol : file->function_symbols()) {
    size += symbol.size;
    if (size > kMostCode) return;
    const auto bytes = as_code(file->bytes_at_address(symbol.address));
    if (symbol.size == 0 || symbol.size > bytes.size()) continue;
    read_function(symbol.address + *bias, bytes.first(symbol.size));
  }
  // Which instructions name points.
  const std::uint64_t table = section->address + *bias;
  for (const auto& [at, instruction] : code_) {
    if (instruction.is_call()) {
      const auto known = position_of_return_.find(instruction.next());
      if (known != position_of_return_.end()) marks_[at] = known->second;
    }
    if (instruction.slot < table || instruction.slot >= table + section->bytes.size()) continue;
    const auto known =
        position_of_point_.find(module.base + (instruction.slot - table) / sizeof(abi::Point));
    if (known != position_of_point_.end()) marks_[at] = known->second;
  }
}

void PointFlow::read_function(Address begin, std::span<const std::uint8_t> code) {
  if (functions_.contains(begin)) return;
  functions_[begin] = {begin, begin + code.size(), {}, false, Function::Known::kNo};
  bool counted = false;
  for (std::size_t offset = 0; offset < code.size();) {
    Instruction instruction;
    if (!decode(begin + offset, code.subspan(offset), instruction) || instruction.length == 0)
      return;
    if (counted && instruction.flow == Flow::kBranch) {
      const Sign sign = sign_of(code.subspan(offset));
      if (sign != Sign::kOther) negative_is_target_[instruction.address] = sign == Sign::kTarget;
    }
    counted = code[offset] == kFsPrefix && instruction.flow == Flow::kNext;
    offset += instruction.length;
    code_.emplace(instruction.address, instruction);
  }
}

PointFlow::Function* PointFlow::function_at(Address address) {
  auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return nullptr;
  --after;
  return address < after->second.end ? &after->second : nullptr;
}

// Within the function.
std::vector<PointFlow::Address> PointFlow::ways_from(const Instruction& at) const {
  switch (at.flow) {
    case Flow::kJump:
      return {at.target};
    case Flow::kBranch: {
      const auto counts = negative_is_target_.find(at.address);
      if (counts == negative_is_target_.end()) return {at.target, at.next()};
      return {counts->second ? at.target : at.next()};
    }
    case Flow::kIndirectJump:
    case Flow::kReturn:
    case Flow::kStop:
      return {};
    case Flow::kNext:
    case Flow::kCall:
    case Flow::kIndirectCall:
      break;
  }
  return {at.next()};
}

void PointFlow::walk(Address from, Met& met, int depth) {
  std::set<Address> seen{from};
  std::vector<Address> todo{from};
  const Function* inside = function_at(from);
  const auto visit = [&](Address address) {
    if (seen.insert(address).second) todo.push_back(address);
  };
  while (!todo.empty() && inside != nullptr) {
    const auto found = code_.find(todo.back());
    todo.pop_back();
    if (found == code_.end()) continue;
    const Instruction& at = found->second;
    if (const auto mark = marks_.find(at.address); mark != marks_.end()) {
      met.points.insert(mark->second);
      continue;
    }
    const bool leaves =
        at.flow == Flow::kJump && (at.target < inside->begin || at.target >= inside->end);
    Function* called = nullptr;
    if (at.flow == Flow::kCall || leaves) {
      const auto function = functions_.find(at.target);
      if (function != functions_.end()) called = &function->second;
    }
    if (called != nullptr) {
      const Function& known = summary(*called, depth + 1);
      met.points.insert(known.first.begin(), known.first.end());
      if (!known.passes) continue;
    }
    if (at.flow == Flow::kReturn || leaves) {
      met.ends.insert(inside->begin);
      continue;
    }
    for (const Address next : ways_from(at)) visit(next);
  }
}

const PointFlow::Function& PointFlow::summary(Function& function, int depth) {
  if (function.known == Function::Known::kYes) return function;
  // In the middle of a recursion: as if it did nothing.
  static const Function kNothing{0, 0, {}, true, Function::Known::kYes};
  if (function.known == Function::Known::kUnderWay || depth > kDeepest) return kNothing;
  function.known = Function::Known::kUnderWay;
  Met met;
  walk(function.begin, met, depth);
  function.first = std::move(met.points);
  function.passes = !met.ends.empty();
  function.known = Function::Known::kYes;
  return function;
}

// What comes next after the point that the instruction stands for.
void PointFlow::walk_on(Address from, std::set<std::uint32_t>& points) {
  Met met;
  std::set<Address> ended;
  for (const Address next : ways_from(code_.at(from))) walk(next, met, 0);
  // From the end of the function to wherever it is called, and so on.
  while (true) {
    const auto open = std::ranges::find_if(met.ends, [&](Address f) { return !ended.contains(f); });
    if (open == met.ends.end()) break;
    const Address function = *open;
    ended.insert(function);
    for (const Address next : returns_to_[function]) walk(next, met, 0);
  }
  points.merge(met.points);
}

std::set<PointFlow::Edge> PointFlow::edges() {
  std::set<Edge> result;
  for (const auto& [address, position] : marks_) {
    std::set<std::uint32_t> next;
    walk_on(address, next);
    for (const std::uint32_t to : next) result.emplace(position, to);
  }
  return result;
}

std::set<std::uint32_t> PointFlow::successors(std::uint32_t point) {
  std::set<std::uint32_t> next;
  for (const Address at : instructions_of(point)) walk_on(at, next);
  return next;
}

std::vector<std::uint64_t> PointFlow::instructions_of(std::uint32_t point) const {
  std::vector<std::uint64_t> result;
  for (const auto& [address, position] : marks_)
    if (position == point) result.push_back(address);
  std::ranges::sort(result);
  return result;
}

std::optional<std::uint32_t> PointFlow::point_at(std::uint64_t instruction) const {
  const auto mark = marks_.find(instruction);
  return mark == marks_.end() ? std::nullopt : std::optional(mark->second);
}

}  // namespace clew
