#include "host/enumerate/unexecuted_writes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "host/elf/elf_file.h"
#include "host/model/call_graph.h"
#include "host/model/code_map.h"
#include "host/model/instruction.h"
#include "host/model/point_flow.h"

namespace clew {
namespace {

// Instructions that are followed back, and assignments among them. Chosen, not measured: what
// prepares a call of the runtime is shorter.
constexpr std::size_t kMostBack = 60;
constexpr int kMostAssignments = 12;
constexpr int kRsi = 6;  // the second argument of a call: the address of the access
constexpr int kRbp = 5;
// In place of a frame's address, which is not known: far from all else.
constexpr std::uint64_t kFrame = std::uint64_t{1} << 46;

std::string without_indices(const std::string& path) {
  std::string result;
  bool inside = false;
  for (const char c : path) {
    if (c == ']') inside = false;
    if (!inside) result += c;
    if (c == '[') inside = true;
  }
  return result;
}

class Follower {
 public:
  Follower(CodeMap& code, RunNames& names) : code_(code), names_(names) {}

  // What the hook that is called behind `mark`, an instruction that names a point, is told of.
  WrittenData data_at(std::uint64_t mark) {
    const auto module = names_.module_of(mark);
    const auto range = code_.function(mark);
    if (!module || !module->names || !range) return {};
    read(*range);
    const auto first = at(mark);
    if (!first) return {};
    for (std::size_t i = *first; i < steps_.size() && i < *first + kMostBack; ++i)
      if (steps_[i].is_call()) return follow(i, kRsi, *module);
    return {};
  }

 private:
  void read(const CodeRange& range) {
    if (range.begin == begin_) return;
    begin_ = range.begin;
    steps_.clear();
    bytes_ = code_.code(range.begin);
    bytes_ = bytes_.first(std::min<std::size_t>(bytes_.size(), range.end - range.begin));
    for (std::size_t offset = 0; offset < bytes_.size();) {
      Instruction step;
      if (!decode(begin_ + offset, bytes_.subspan(offset), step) || step.length == 0) break;
      offset += step.length;
      steps_.push_back(step);
    }
  }
  [[nodiscard]] std::optional<std::size_t> at(std::uint64_t address) const {
    const auto found = std::ranges::lower_bound(steps_, address, {}, &Instruction::address);
    if (found == steps_.end() || found->address != address) return std::nullopt;
    return static_cast<std::size_t>(found - steps_.begin());
  }

  // The opcode, without prefixes, and what follows it.
  [[nodiscard]] std::span<const std::uint8_t> opcode(const Instruction& step) const {
    auto bytes = bytes_.subspan(step.address - begin_, step.length);
    while (!bytes.empty() && (bytes[0] == 0x66 || (bytes[0] >= 0x40 && bytes[0] <= 0x4f)))
      bytes = bytes.subspan(1);
    return bytes;
  }
  // What an addition of a constant adds.
  [[nodiscard]] static std::optional<std::int64_t> added(std::span<const std::uint8_t> code) {
    const auto number = [](std::span<const std::uint8_t> bytes) {
      std::uint32_t value = 0;
      for (std::size_t i = 4; i-- > 0;) value = value << 8 | bytes[i];
      return static_cast<std::int64_t>(static_cast<std::int32_t>(value));
    };
    const bool is_add = code.size() > 1 && (code[1] & 0xf8) == 0xc0;
    if (code.size() == 3 && code[0] == 0x83 && is_add) return static_cast<std::int8_t>(code[2]);
    if (code.size() == 6 && code[0] == 0x81 && is_add) return number(code.subspan(2));
    if (code.size() == 5 && code[0] == 0x05) return number(code.subspan(1));
    return std::nullopt;
  }
  // The only general register of a set; -1: there are several, or none.
  [[nodiscard]] static int only(RegisterSet set) {
    int found = -1;
    for (int reg = 0; reg < kGeneralRegisters; ++reg)
      if ((set & bit_of(reg)) != 0) {
        if (found >= 0) return -1;
        found = reg;
      }
    return found;
  }

  // The step that was executed before one: that in front of it, or the only branch that leads to it;
  // nothing: not known.
  [[nodiscard]] std::optional<std::size_t> executed_before(std::size_t step) const {
    if (step == 0) return std::nullopt;
    const Flow flow = steps_[step - 1].flow;
    if (flow != Flow::kJump && flow != Flow::kIndirectJump && flow != Flow::kReturn &&
        flow != Flow::kStop)
      return step - 1;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Instruction& one = steps_[i];
      if (one.target != steps_[step].address ||
          (one.flow != Flow::kBranch && one.flow != Flow::kJump))
        continue;
      if (found) return std::nullopt;
      found = i;
    }
    return found;
  }

  // What register `reg` points to before step `before`.
  WrittenData follow(std::size_t before, int reg, const RunNames::Module& module) {
    std::int64_t offset = 0;
    std::optional<std::int64_t> slot;  // then it is that of the frame, not the register
    int assignments = 0;
    std::size_t at = before;
    for (std::size_t back = 0; back < kMostBack && assignments < kMostAssignments; ++back) {
      const auto previous = executed_before(at);
      if (!previous) return {};
      at = *previous;
      const Instruction& step = steps_[at];
      const auto code = opcode(step);
      if (code.empty()) return {};
      if (slot) {
        // Stored there: by a move from a register.
        if (code[0] != 0x89 || step.base != kRbp || step.displacement != *slot) continue;
        reg = only(step.reads & ~step.address_reads);
        slot.reset();
        if (reg < 0) return {};
      } else {
        if ((step.writes & bit_of(reg)) == 0 || step.is_call()) continue;
        if (code[0] == 0x8d && step.slot != 0)
          return global(step.slot + static_cast<std::uint64_t>(offset));
        if (code[0] == 0x8b && step.slot != 0)  // a global variable that points to the object
          return through(names_.global(step.slot, 8).type, offset);
        if (code[0] == 0x8d && step.base >= 0) {
          offset += step.displacement;
          reg = step.base;
        } else if ((code[0] == 0x8b || code[0] == 0x89) && step.copies && step.base < 0 &&
                   step.slot == 0 && only(step.reads) >= 0) {
          reg = only(step.reads);
        } else if (code[0] == 0x8b && step.base == kRbp) {
          if (WrittenData data = through(local(step, module), offset);
              data.kind != WrittenData::Kind::kUnknown)
            return data;
          slot = step.displacement;
        } else if (const auto more = added(code)) {
          offset += *more;
        } else {
          return {};
        }
      }
      ++assignments;
      if (slot) continue;
      if (const auto variable =
              names_.variable_in_register(step.address, dwarf_register(static_cast<unsigned>(reg))))
        if (WrittenData data = through(variable->type, offset);
            data.kind != WrittenData::Kind::kUnknown)
          return data;
    }
    return {};
  }

  WrittenData global(std::uint64_t address) {
    const ObjectName name = names_.global(address, 0);
    if (!name.known() || name.path.empty()) return {};
    return {WrittenData::Kind::kGlobal, without_indices(name.path)};
  }
  // The variable that a load from the frame reads; null: none.
  static const Type* local(const Instruction& load, const RunNames::Module& module) {
    Machine machine;
    machine.bias = module.bias;
    machine.reg = [](unsigned number) {
      return number == kFrameRegister ? std::optional(kFrame) : std::nullopt;
    };
    const auto data = module.names->local_at(kFrame + static_cast<std::uint64_t>(load.displacement),
                                             8, load.address - module.bias, machine);
    return data && data->offset == 0 ? data->type : nullptr;
  }
  static WrittenData through(const Type* pointer, std::int64_t offset) {
    if (pointer == nullptr || !pointer->is_pointer() || offset < 0) return {};
    const Type* target = pointer->target();
    if (target == nullptr || target->name().empty() || target->is_library()) return {};
    if (target->kind() != Type::Kind::kRecord) return {};
    // By the first byte: of a member that is a class, what is written to begins with its first.
    const auto path = member_path(*target, static_cast<std::uint64_t>(offset), 1);
    if (!path || path->text.empty()) return {};
    std::string member = without_indices(path->text);
    if (member.starts_with('.')) member.erase(0, 1);
    return {WrittenData::Kind::kMember, target->name() + "::" + member};
  }

  CodeMap& code_;
  RunNames& names_;
  std::uint64_t begin_ = 0;
  std::span<const std::uint8_t> bytes_;
  std::vector<Instruction> steps_;
};

// Whether main, or something whose address is taken, leads to a function.
class Reached {
 public:
  bool has(const std::string& path, std::uint64_t linked) {
    const auto [entry, is_new] = modules_.try_emplace(path);
    if (is_new) entry->second = walk(path);
    const Module& module = entry->second;
    if (!module.graph) return true;
    const auto function = module.graph->function_at(linked);
    return !function || module.reached[*function];
  }

 private:
  struct Module {
    std::unique_ptr<CallGraph> graph;
    std::vector<bool> reached;
  };
  static Module walk(const std::string& path) {
    Module module;
    auto opened = CallGraph::open(path);
    if (!opened) return module;
    module.graph = std::make_unique<CallGraph>(std::move(*opened));
    const auto start = module.graph->function_named("main");
    if (!start) {  // a library: others call it
      module.graph.reset();
      return module;
    }
    std::vector<CallGraph::Number> todo = module.graph->candidates();
    todo.push_back(*start);
    module.reached.resize(module.graph->functions().size());
    while (!todo.empty()) {
      const CallGraph::Number now = todo.back();
      todo.pop_back();
      if (module.reached[now]) continue;
      module.reached[now] = true;
      for (const CallGraph::Call& call : module.graph->calls(now))
        if (call.kind == CallGraph::Call::Kind::kFunction) todo.push_back(call.callee);
    }
    return module;
  }

  std::map<std::string, Module> modules_;
};

}  // namespace

std::vector<WrittenData> written_data(const Reports& reports, RunNames& names,
                                      std::span<const abi::Place> points) {
  std::vector<WrittenData> result(points.size());
  if (points.empty()) return result;
  const PointFlow flow(reports, points);
  CodeMap code(reports.maps);
  Follower follower(code, names);
  Reached reached;
  std::vector<std::vector<std::uint64_t>> marks_of;
  for (std::uint32_t i = 0; i < points.size(); ++i) marks_of.push_back(flow.instructions_of(i));
  // If the code was read, what it does not name was optimised away.
  const bool is_read = std::ranges::any_of(marks_of, [](const auto& m) { return !m.empty(); });
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    const std::vector<std::uint64_t>& marks = marks_of[i];
    // Code that was inlined has copies: what one of them says holds for all.
    bool is_called = marks.empty() && !is_read;
    for (const std::uint64_t mark : marks) {
      const auto module = names.module_of(mark);
      is_called |= !module || reached.has(code.path(mark), mark - module->bias);
      if (result[i].kind == WrittenData::Kind::kUnknown) result[i] = follower.data_at(mark);
    }
    if (!is_called) result[i] = {WrittenData::Kind::kNotCalled, ""};
  }
  return result;
}

}  // namespace clew
