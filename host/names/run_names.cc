#include "host/names/run_names.h"

#include <algorithm>
#include <utility>

#include "host/names/sync_name.h"

namespace clew {
namespace {

// A stack that continues is one that cannot be followed, or a recursion that does not end.
constexpr std::size_t kMostFrames = 200;

ObjectName named(ObjectName::Kind kind, NamedData data) {
  ObjectName name;
  name.kind = kind;
  name.path = std::move(data.variable) + data.path;
  name.type = data.type;
  name.offset = data.offset;
  name.function = std::move(data.function);
  return name;
}

// Whether the frame may have variables at places that are not known: in optimised code, and arrays whose
// length is a variable, which are found by a pointer.
bool may_be_variable(const StackFrame& frame) {
  const std::uint64_t pc = frame.linked();
  if (frame.module->is_optimised(pc)) return true;
  return std::ranges::any_of(frame.module->variables_at(pc), [&](const Variable& variable) {
    return frame.module->locate(variable, pc, frame.machine).kind == Whereabouts::Kind::kUnknown;
  });
}

}  // namespace

std::optional<RunNames::Module> RunNames::module_of(std::uint64_t address) {
  const auto found = symbols_.module_of(address);
  if (!found) return std::nullopt;
  const auto [entry, added] = modules_.try_emplace(found->path);
  if (added)
    if (auto opened = ModuleNames::open(found->path)) entry->second = std::move(*opened);
  if (entry->second == nullptr) return std::nullopt;
  return Module{entry->second, address - found->linked, found->is_program};
}

ObjectName RunNames::global(std::uint64_t address, std::uint64_t size) {
  if (const auto module = module_of(address))
    if (auto data = module->names->global_at(address - module->bias, size))
      return named(ObjectName::Kind::kGlobal, std::move(*data));
  ObjectName name;
  name.path = symbols_.object_name(address);
  if (!name.path.empty()) name.kind = ObjectName::Kind::kSymbol;
  return name;
}

ObjectName RunNames::global_sync_object(std::uint64_t address) {
  return sync_object_name([&](std::uint64_t size) { return global(address, size); });
}

std::vector<StackFrame> RunNames::frames(const ThreadState& thread, const ReadMemory& read) {
  std::vector<StackFrame> result;
  Registers now = thread.registers;
  while (result.size() < kMostFrames) {
    StackFrame frame;
    frame.pc = result.empty() ? now.pc : now.pc - 1;
    const auto module = module_of(frame.pc);
    if (!module) break;
    frame.module = module->names;
    frame.machine.bias = module->bias;
    frame.machine.read = read;
    frame.machine.reg = [now](unsigned number) { return now[number]; };
    if (module->is_program && thread.thread_pointer)
      frame.machine.thread_local_block =
          *thread.thread_pointer - module->names->thread_local_size();
    frame.machine.cfa = module->names->cfa(frame.linked(), frame.machine);
    result.push_back(frame);
    const auto caller = frame.module->caller(frame.linked(), frame.machine);
    // A stack grows down: what does not go up leads nowhere.
    if (!caller || caller->pc == 0) break;
    const auto before = now[kStackRegister];
    if (before && *caller->values[kStackRegister] <= *before) break;
    now = *caller;
  }
  return result;
}

ObjectName RunNames::local(std::uint64_t address, std::uint64_t size,
                           std::span<const StackFrame> frames) {
  for (const StackFrame& frame : frames)
    if (auto found = frame.module->local_at(address, size, frame.linked(), frame.machine))
      return named(ObjectName::Kind::kLocal, std::move(*found));
  return {};
}

ObjectName RunNames::in_frame(std::uint64_t address, std::span<const StackFrame> frames) {
  // Between its call of another function, below, and the two words that its own call has left.
  constexpr std::uint64_t kCallWords = 16;
  std::uint64_t below = 0;
  for (const StackFrame& frame : frames) {
    if (!frame.machine.cfa) return {};
    if (address < *frame.machine.cfa) {
      const bool inside = address >= below && address < *frame.machine.cfa - kCallWords;
      if (!inside) return {};
      ObjectName name;
      name.kind = may_be_variable(frame) ? ObjectName::Kind::kFrame : ObjectName::Kind::kTemporary;
      // The innermost one may be inlined, and of the library: that of the frame comes last.
      const auto variables = frame.module->variables_at(frame.linked());
      name.function =
          variables.empty() ? frame.module->function_at(frame.linked()) : variables.back().function;
      return name.function.empty() ? ObjectName() : name;
    }
    below = *frame.machine.cfa;
  }
  return {};
}

ObjectName RunNames::thread_local_variable(std::uint64_t address, std::uint64_t size,
                                           std::uint64_t thread_pointer) {
  const auto program = module_of(symbols_.program_start());
  if (!program) return {};
  const std::uint64_t block = thread_pointer - program->names->thread_local_size();
  if (address < block || address >= thread_pointer) return {};
  auto data = program->names->thread_local_at(address - block, size);
  return data ? named(ObjectName::Kind::kThreadLocal, std::move(*data)) : ObjectName();
}

ObjectName RunNames::name(std::uint64_t address, std::uint64_t size, const Situation& situation) {
  for (const ThreadState& thread : situation.threads) {
    ObjectName on_stack = local(address, size, frames(thread, situation.read));
    on_stack.thread = thread.id;
    if (on_stack.known()) return on_stack;
    if (!thread.thread_pointer) continue;
    ObjectName name = thread_local_variable(address, size, *thread.thread_pointer);
    name.thread = thread.id;
    if (name.known()) return name;
  }
  return global(address, size);
}

std::optional<Variable> RunNames::variable_in_register(std::uint64_t pc, unsigned reg) {
  const auto module = module_of(pc);
  return module ? module->names->variable_in_register(pc - module->bias, reg) : std::nullopt;
}

}  // namespace clew
