#include "host/observe/trace_names.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/names/library_layout.h"
#include "host/names/sync_name.h"

namespace clew {
namespace {

// Steps behind an allocation among which it is looked for what becomes of it. Chosen, not measured:
// an object is constructed and stored soon after.
constexpr std::size_t kMostSteps = 4'000;
constexpr std::size_t kMostFrames = 64;
// Of objects whose type is told by others on the heap.
constexpr int kMostDepth = 4;
// Of nodes of a container whose owner is told by the node that was there before. Chosen, not measured.
constexpr int kMostNodes = 200;

constexpr unsigned kResultRegister = 0;  // rax

// "push" of a register, which is how functions begin: 50 to 57, or with a prefix.
bool is_push(std::span<const std::uint8_t> code) {
  if (!code.empty() && code[0] == 0x41) code = code.subspan(1);
  return !code.empty() && code[0] >= 0x50 && code[0] <= 0x57;
}

constexpr std::uint8_t kThreadPrefix = 0x64;  // of instructions that use fs

// Of an instruction, behind the prefix, whose memory operand is a displacement alone.
std::optional<std::uint64_t> absolute_displacement(std::span<const std::uint8_t> code) {
  std::size_t at = 0;
  if (at < code.size() && code[at] == 0x66) ++at;
  if (at < code.size() && (code[at] & 0xf0) == 0x40) ++at;  // REX
  if (at < code.size() && code[at] == 0x0f) ++at;           // two bytes of opcode
  ++at;
  // ModRM without a base, SIB without base and index.
  if (at + 6 > code.size() || (code[at] & 0xc7) != 0x04 || code[at + 1] != 0x25)
    return std::nullopt;
  std::int32_t displacement;
  std::memcpy(&displacement, code.data() + at + 2, sizeof displacement);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(displacement));
}

// A variable of a function of the C++ library, which says nothing to its user.
bool is_of_library(const ObjectName& variable) {
  return variable.function.starts_with("std::") || variable.function.starts_with("__gnu_cxx::");
}

// Of a std::vector<bool> a word holds 64 elements.
bool keeps_bits(const Type& container) {
  const Type* element = library_class(container) == "vector" ? argument(container, 0) : nullptr;
  return element != nullptr && element->name() == "bool";
}

}  // namespace

std::string TraceNames::thread_id(std::uint16_t thread) const {
  return thread < run_.reports.threads.size() ? run_.reports.threads[thread].id : "";
}

// Where the frame is that a thread begins with, whose call was not seen: by what its first
// instruction pushes, or by the stack pointer where it calls another.
std::uint64_t TraceNames::cfa_of(FrameIndex frame, const RunNames::Module& module,
                                 std::uint64_t bias) {
  const TraceFrame& of = trace_.frames()[frame];
  if (of.cfa != 0) return of.cfa;
  const auto [known, added] = cfas_.try_emplace(frame, 0);
  if (!added) return known->second;
  const TranslatedBlock& first = trace_.block_of(of.first);
  // endbr64, in front of functions that may be called by a pointer, does nothing.
  std::span<const std::uint8_t> code = first.code;
  std::uint32_t instruction = 0;
  if (code.size() > 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) {
    code = code.subspan(4);
    instruction = 1;
  }
  for (std::uint32_t i = 0; i < first.accesses.size(); ++i)
    if (first.accesses[i].instruction == instruction && is_push(code))
      return known->second = trace_.access_address(of.first, i) + 16;
  for (const StepIndex step : trace_.thread(of.thread)) {
    if (step < of.first || trace_.steps()[step].frame != frame) continue;
    const auto registers = trace_.call_registers(step);
    if (!registers) continue;
    Machine machine;
    machine.bias = bias;
    machine.reg = [&](unsigned number) -> std::optional<std::uint64_t> {
      if (number == kStackRegister) return registers->rsp;
      return std::nullopt;
    };
    const std::uint64_t pc = trace_.code(step).back().address;
    return known->second = module.names->cfa(pc - bias, machine).value_or(0);
  }
  return 0;
}

// By an access relative to it: with a displacement alone, as code of the C library has it
// everywhere; or with an offset that the instruction before has read from a table of the dynamic
// linker's, as the code of yield points does.
std::optional<std::uint64_t> TraceNames::thread_pointer(std::uint16_t thread) {
  const auto [known, added] = thread_pointers_.try_emplace(thread);
  if (!added) return known->second;
  constexpr std::uint64_t kAlignment = 64;  // of the C library's thread block
  constexpr std::uint64_t kMostOffset = std::uint64_t{1} << 24;
  const auto plausible = [](std::uint64_t pointer) {
    return pointer != 0 && pointer % kAlignment == 0;
  };
  for (const StepIndex step : trace_.thread(thread)) {
    const TranslatedBlock& block = trace_.block_of(step);
    for (std::uint32_t i = 0; i < block.accesses.size(); ++i) {
      const RecordedAccess& access = block.accesses[i];
      if (access.instruction >= trace_.steps()[step].executed) break;
      const auto code = std::span(block.code).subspan(block.instructions[access.instruction]);
      if (code.empty() || code[0] != kThreadPrefix) continue;
      const std::uint64_t address = trace_.access_address(step, i);
      const auto displacement = absolute_displacement(code.subspan(1));
      if (displacement && plausible(address - *displacement))
        return known->second = address - *displacement;
      if (known->second || i == 0 || !block.accesses[i - 1].has_value ||
          block.accesses[i - 1].size != 8 ||
          block.accesses[i - 1].instruction + 1 != access.instruction)
        continue;
      const std::uint64_t offset = trace_.access_value(step, i - 1);
      if (offset != 0 && 0 - offset < kMostOffset && plausible(address - offset))
        known->second = address - offset;
    }
  }
  return known->second;
}

std::vector<StackFrame> TraceNames::frames(std::uint16_t thread, StepIndex at) {
  std::vector<StackFrame> result;
  if (thread >= trace_.thread_count()) return result;
  const auto& steps = trace_.thread(thread);
  const auto after = std::ranges::upper_bound(steps, at);
  if (after == steps.begin()) return result;
  const StepIndex now = *std::prev(after);
  std::uint64_t pc = trace_.address(now);
  // A thread that is in a call stands where it called.
  if (now != at && trace_.call_registers(now)) pc = trace_.code(now).back().address;
  FrameIndex frame = trace_.steps()[now].frame;
  while (frame != kNoFrame && result.size() < kMostFrames) {
    const TraceFrame& of = trace_.frames()[frame];
    if (const auto module = names_.module_of(pc)) {
      StackFrame one;
      one.pc = pc;
      one.module = module->names;
      one.machine.bias = module->bias;
      if (const std::uint64_t cfa = cfa_of(frame, *module, module->bias); cfa != 0)
        one.machine.cfa = cfa;
      result.push_back(std::move(one));
    }
    if (of.call == kNoStep) break;
    pc = trace_.code(of.call).back().address;
    frame = of.parent;
  }
  return result;
}

std::optional<Location> TraceNames::place_of(StepIndex step) {
  FrameList addresses{trace_.code(step).back().address};
  for (FrameIndex frame = trace_.steps()[step].frame;
       frame != kNoFrame && addresses.size() < kMostFrames; frame = trace_.frames()[frame].parent)
    if (const StepIndex call = trace_.frames()[frame].call; call != kNoStep)
      addresses.push_back(trace_.code(call).back().address);
  const auto found = symbols_.frames(addresses);
  const SourceFrame* frame = Symbolizer::user_frame(found);
  return frame == nullptr ? std::nullopt : std::optional(location_of(*frame));
}

ObjectName TraceNames::name(std::uint64_t address, std::uint64_t size, StepIndex at) {
  ObjectName name = name_within(address, size, at, 0);
  return name.known() ? name : by_pointer(address, size, at);
}

ObjectName TraceNames::sync_object(std::uint64_t address, StepIndex at) {
  return sync_object_name([&](std::uint64_t size) { return name(address, size, at); });
}

// Memory that is nobody's who is known, as that which was allocated before the trace began: by the
// last pointer to it, of a declared type, that the thread has read.
ObjectName TraceNames::by_pointer(std::uint64_t address, std::uint64_t size, StepIndex at) {
  constexpr std::size_t kMostBack = 400;
  constexpr std::uint64_t kMostObject = 65'536;
  const std::uint16_t thread = trace_.steps()[at].thread;
  const auto& steps = trace_.thread(thread);
  const auto after = std::ranges::upper_bound(steps, at);
  const auto end = static_cast<std::size_t>(after - steps.begin());
  for (std::size_t i = end; i-- > 0 && end - i < kMostBack;) {
    const auto& accesses = trace_.block_of(steps[i]).accesses;
    for (std::uint32_t k = static_cast<std::uint32_t>(accesses.size()); k-- > 0;) {
      const RecordedAccess& access = accesses[k];
      if (access.kind != AccessKind::kRead || access.size != 8 || !access.has_value ||
          access.instruction >= trace_.steps()[steps[i]].executed)
        continue;
      const std::uint64_t pointer = trace_.access_value(steps[i], k);
      if (pointer == 0 || address - pointer >= kMostObject) continue;
      ObjectName holder = of_variable(trace_.access_address(steps[i], k), 8, steps[i]);
      if (holder.type == nullptr || holder.type->kind() != Type::Kind::kPointer ||
          holder.offset != 0 || holder.type->target() == nullptr || is_of_library(holder))
        continue;
      const auto path = member_path(*holder.type->target(), address - pointer, size);
      if (!path || !holder.type->target()->size()) continue;
      holder.kind = ObjectName::Kind::kPointee;
      holder.path = path->text.starts_with('.') ? holder.path + "->" + path->text.substr(1)
                                                : "*" + holder.path + path->text;
      holder.type = path->type;
      holder.offset = path->offset;
      return holder;
    }
  }
  return {};
}

ObjectName TraceNames::in_frame(std::uint64_t address, StepIndex at) {
  for (std::size_t i = 0; i < trace_.thread_count(); ++i) {
    const auto thread = static_cast<std::uint16_t>(i);
    if (!is_near_stack(thread, address)) continue;
    ObjectName name = names_.in_frame(address, frames(thread, at));
    if (!name.known()) continue;
    name.thread = thread_id(thread);
    return name;
  }
  return {};
}

// A stack of one thread lies far from those of others.
bool TraceNames::is_near_stack(std::uint16_t thread, std::uint64_t address) const {
  constexpr std::uint64_t kMostStack = std::uint64_t{8} << 20;
  const std::uint64_t top = trace_.stack_top(thread);
  return top == 0 || (address <= top + kMostStack && address + kMostStack >= top);
}

ObjectName TraceNames::name_within(std::uint64_t address, std::uint64_t size, StepIndex at,
                                   int depth) {
  if (const Allocation* allocation = trace_.allocation(address, at))
    return heap(*allocation, address, size, at, depth);
  return of_variable(address, size, at);
}

ObjectName TraceNames::of_variable(std::uint64_t address, std::uint64_t size, StepIndex at) {
  for (std::size_t i = 0; i < trace_.thread_count(); ++i) {
    const auto thread = static_cast<std::uint16_t>(i);
    if (!is_near_stack(thread, address)) continue;
    ObjectName name = names_.local(address, size, frames(thread, at));
    if (!name.known()) continue;
    name.thread = thread_id(thread);
    return name;
  }
  for (std::size_t i = 0; i < trace_.thread_count(); ++i) {
    const auto thread = static_cast<std::uint16_t>(i);
    const auto pointer = thread_pointer(thread);
    if (!pointer) continue;
    ObjectName name = names_.thread_local_variable(address, size, *pointer);
    if (!name.known()) continue;
    name.thread = thread_id(thread);
    return name;
  }
  return names_.global(address, size);
}

ObjectName TraceNames::heap(const Allocation& allocation, std::uint64_t address, std::uint64_t size,
                            StepIndex at, int depth) {
  using Part = ObjectName::Heap::Part;
  ObjectName name;
  name.kind = ObjectName::Kind::kHeap;
  name.heap.size = allocation.size;
  name.heap.allocated_at = place_of(allocation.made);
  name.heap.allocated_by = thread_id(trace_.steps()[allocation.made].thread);
  if (allocation.freed < at) {
    name.heap.freed = true;
    name.heap.freed_at = place_of(allocation.freed);
    name.heap.freed_by = thread_id(trace_.steps()[allocation.freed].thread);
  }
  const HeapType& holds = type_of(allocation, depth);
  name.offset = address - allocation.address;
  name.heap.inside = name.offset;
  if (holds.type == nullptr || name.offset < holds.begin) return name;
  const Type* type = holds.type;
  std::uint64_t offset = name.offset - holds.begin;
  if (holds.is_array) {
    name.heap.index = offset / *type->size();
    offset %= *type->size();
    name.heap.owner = holds.owner;
  }
  if (const auto stored = stored_value(*type)) {
    const bool inside = stored->offset && offset >= *stored->offset;
    name.heap.type = stored->value->name();
    name.heap.inside = offset;
    if (!inside) {
      name.heap.part = stored->holder == StoredValue::Holder::kControlBlock ? Part::kControlBlock
                                                                            : Part::kLibrary;
      return name;
    }
    type = stored->value;
    offset -= *stored->offset;
    name.heap.owner = holds.owner;
  } else if (type->is_library()) {
    const std::string_view of = library_class(*type);
    name.heap.part = of == "thread::_State_impl" ? Part::kThread
                     : of.starts_with('_')       ? Part::kLibrary
                                                 : Part::kObject;
  }
  if (!holds.is_array && !stored_value(*holds.type)) name.heap.owner = holds.owner;
  name.heap.type = type->name();
  name.heap.inside = offset;
  if (const auto path = member_path(*type, offset, size)) {
    name.path = path->text;
    name.type = path->type;
    name.offset = path->offset;
  }
  return name;
}

const TraceNames::HeapType& TraceNames::type_of(const Allocation& allocation, int depth) {
  const auto known = types_.find(allocation.made);
  if (known != types_.end()) return known->second;
  // Asked for again on the way: not known by this way.
  types_[allocation.made] = {};
  return types_[allocation.made] = find_type(allocation, depth);
}

// What a std::allocator allocates; `user`: where code of the user's own calls the allocator or the
// library.
const Type* TraceNames::by_allocator(const Allocation& allocation, StackFrame& user) {
  FrameIndex frame = trace_.steps()[allocation.made].frame;
  StepIndex call = allocation.made;
  for (std::size_t i = 0; i < kMostFrames && call != kNoStep; ++i) {
    const std::uint64_t pc = trace_.code(call).back().address;
    const auto module = names_.module_of(pc);
    if (!module) return nullptr;
    const auto code = module->names->allocating_code(pc - module->bias);
    if (!code) return nullptr;
    if (code->element != nullptr) return code->element;
    if (!code->ends_in_library) {
      user.pc = pc;
      user.module = module->names;
      user.machine.bias = module->bias;
      return nullptr;
    }
    if (frame == kNoFrame) return nullptr;
    call = trace_.frames()[frame].call;
    frame = trace_.frames()[frame].parent;
  }
  return nullptr;
}

std::optional<TraceNames::HeapType> TraceNames::fitting(const Type& type,
                                                        const Allocation& allocation) const {
  const std::uint64_t size = type.size().value_or(0);
  // Single bytes are what memory consists of; they say nothing about it.
  if (size == 0 || (size == 1 && !type.is_aggregate())) return std::nullopt;
  if (size == allocation.size) return HeapType{&type, false, 0, ""};
  const OutsideCall* call = trace_.outside_call(allocation.made);
  const std::string_view by = call == nullptr ? std::string_view() : call->name;
  // One object of another class, which this one is the base of, perhaps.
  if (by.starts_with("_Znw")) return std::nullopt;
  if (allocation.size % size == 0) return HeapType{&type, true, 0, ""};
  // In front of an array of objects with destructors is how many there are.
  constexpr std::uint64_t kCount = 8;
  if (by.starts_with("_Zna") && allocation.size > kCount && (allocation.size - kCount) % size == 0)
    return HeapType{&type, true, kCount, ""};
  return std::nullopt;
}

std::optional<TraceNames::HeapType> TraceNames::by_constructor(StepIndex step, StepIndex next,
                                                               const Allocation& allocation) {
  const auto registers = trace_.call_registers(step);
  if (!registers || registers->arguments[0] != allocation.address) return std::nullopt;
  const FrameIndex frame = trace_.steps()[next].frame;
  if (frame == kNoFrame || trace_.frames()[frame].call != step) return std::nullopt;
  const std::uint64_t entry = trace_.frames()[frame].entry;
  const auto module = names_.module_of(entry);
  if (!module) return std::nullopt;
  const Type* type = module->names->constructed_by(entry - module->bias);
  if (type == nullptr || type->size() != allocation.size) return std::nullopt;
  return HeapType{type, false, 0, ""};
}

// By what becomes of the memory's address. `known`: what the memory has in it; then only whose it is
// is asked for.
std::optional<TraceNames::HeapType> TraceNames::by_use(const Allocation& allocation,
                                                       const Type* known, int depth) {
  const auto& steps = trace_.thread(trace_.steps()[allocation.made].thread);
  const std::size_t from = trace_.position(allocation.made) + 1;
  const std::size_t end = std::min(steps.size(), from + kMostSteps);
  for (std::size_t i = from; i < end; ++i) {
    const StepIndex step = steps[i];
    if (step > allocation.freed) break;
    if (known == nullptr && i + 1 < end)
      if (auto found = by_constructor(step, steps[i + 1], allocation)) return found;
    const auto& accesses = trace_.block_of(step).accesses;
    for (std::uint32_t k = 0; k < accesses.size(); ++k) {
      const RecordedAccess& access = accesses[k];
      if (access.kind != AccessKind::kWrite || access.size != 8 || !access.has_value ||
          access.instruction >= trace_.steps()[step].executed ||
          trace_.access_value(step, k) != allocation.address)
        continue;
      const std::uint64_t to = trace_.access_address(step, k);
      if (to - allocation.address < allocation.size) continue;
      const ObjectName holder = name_within(to, 8, step, depth + 1);
      if (!holder.known() || holder.type == nullptr) continue;
      if (holder.kind == ObjectName::Kind::kSymbol) continue;
      if (known != nullptr) {
        // Of a container whose name is known, and not that of a function of the library.
        if (holder.kind == ObjectName::Kind::kHeap || library_class(*holder.type).empty() ||
            is_of_library(holder))
          continue;
        return HeapType{known, !keeps_bits(*holder.type), 0, holder.path};
      }
      const Type* target = nullptr;
      if (holder.type->kind() == Type::Kind::kPointer && holder.offset == 0)
        target = holder.type->target();
      else if (const auto name = library_class(*holder.type);
               name == "unique_ptr" || name == "shared_ptr" || name == "atomic")
        target = argument(*holder.type, 0);
      if (target != nullptr && target->kind() == Type::Kind::kPointer &&
          library_class(*holder.type) == "atomic")
        target = target->target();
      if (target == nullptr) continue;
      if (auto found = fitting(*target, allocation)) return found;
    }
  }
  return std::nullopt;
}

// The container that a node was put into: a pointer to the node is written to the container itself, or to
// a node that is in it.
std::string TraceNames::owner_of_node(const Allocation& node, int depth) {
  const auto& steps = trace_.thread(trace_.steps()[node.made].thread);
  const std::size_t from = trace_.position(node.made) + 1;
  const std::size_t end = std::min(steps.size(), from + kMostSteps);
  for (std::size_t i = from; i < end && steps[i] <= node.freed; ++i) {
    const StepIndex step = steps[i];
    const auto& accesses = trace_.block_of(step).accesses;
    for (std::uint32_t k = 0; k < accesses.size(); ++k) {
      const RecordedAccess& access = accesses[k];
      if (access.kind != AccessKind::kWrite || access.size != 8 || !access.has_value ||
          access.instruction >= trace_.steps()[step].executed ||
          trace_.access_value(step, k) != node.address)
        continue;
      const std::uint64_t to = trace_.access_address(step, k);
      if (to - node.address < node.size) continue;
      if (const Allocation* other = trace_.allocation(to, step)) {
        const HeapType& holds = type_of(*other, depth + 1);
        const auto stored =
            holds.type != nullptr && !holds.is_array ? stored_value(*holds.type) : std::nullopt;
        if (stored && stored->holder == StoredValue::Holder::kNode && !holds.owner.empty())
          return holds.owner;
        // A container that is a member of an object on the heap has no name of its own.
        if (stored || holds.type == nullptr || holds.type->is_library()) continue;
        return "";
      }
      const ObjectName holder = of_variable(to, 8, step);
      if (holder.known() && holder.type != nullptr && !library_class(*holder.type).empty() &&
          !is_of_library(holder))
        return holder.path;
    }
  }
  return "";
}

TraceNames::HeapType TraceNames::find_type(const Allocation& allocation, int depth) {
  if (depth > kMostNodes) return {};
  StackFrame user;
  if (const Type* type = by_allocator(allocation, user)) {
    const std::uint64_t size = type->size().value_or(0);
    if (size == 0 || allocation.size % size != 0) return {};
    if (const auto stored = stored_value(*type))
      return {type, false, 0,
              stored->holder == StoredValue::Holder::kNode ? owner_of_node(allocation, depth) : ""};
    if (depth > kMostDepth) return {};
    if (auto owned = by_use(allocation, type, depth)) return *owned;
    return {type, allocation.size != size, 0, ""};
  }
  if (depth > kMostDepth) return {};
  if (auto found = by_use(allocation, nullptr, depth)) return *found;
  if (user.module == nullptr) return {};
  // A variable that has the result as soon as the call has returned.
  const std::uint64_t back = trace_.code(allocation.made).back().next();
  if (const auto variable = names_.variable_in_register(back, kResultRegister);
      variable && variable->type != nullptr && variable->type->kind() == Type::Kind::kPointer &&
      variable->type->target() != nullptr)
    if (auto found = fitting(*variable->type->target(), allocation)) return *found;
  std::vector<HeapType> candidates;
  for (const Type* type : user.module->constructed_near(user.linked()))
    if (type->size() == allocation.size) candidates.push_back({type, false, 0, ""});
  return candidates.size() == 1 ? candidates.front() : HeapType{};
}

}  // namespace clew
