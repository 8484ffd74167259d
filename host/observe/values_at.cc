#include "host/observe/values_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "host/debug/time_travel.h"
#include "host/lines.h"
#include "host/names/library_layout.h"
#include "host/names/run_names.h"
#include "host/names/value_text.h"
#include "host/recording/file.h"
#include "host/symbolize/symbolizer.h"
#include "host/target/slurp.h"

namespace clew {
namespace {

constexpr std::uint64_t kMostSource = std::uint64_t{64} << 20;  // as host/report/stacks.cc
constexpr std::size_t kMostLine = 400;  // letters of a source line that are looked at

Registers registers_of(const user_regs_struct& from) {
  Registers result;
  result.pc = from.rip;
  const std::uint64_t in_order[] = {from.rax, from.rdx, from.rcx, from.rbx, from.rsi, from.rdi,
                                    from.rbp, from.rsp, from.r8,  from.r9,  from.r10, from.r11,
                                    from.r12, from.r13, from.r14, from.r15};
  std::ranges::copy(in_order, result.values.begin());
  return result;
}

// Of a thread that waits only those are kept that functions leave as they found them.
Registers registers_of(const abi::DebugThread& from) {
  Registers result;
  result.pc = from.instruction;
  result.values[3] = from.rbx;
  result.values[kFrameRegister] = from.frame;
  result.values[kStackRegister] = from.stack;
  result.values[12] = from.r12;
  result.values[13] = from.r13;
  result.values[14] = from.r14;
  result.values[15] = from.r15;
  return result;
}

// The names in a line of C or C++, each once; not those behind a dot or an arrow, and no strings,
// characters or comments.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (line.substr(at).starts_with("//")) break;
    if (c == '"' || c == '\'') {
      for (++at; at < line.size() && line[at] != c; ++at)
        if (line[at] == '\\') ++at;
      ++at;
      continue;
    }
    if (!is_word(c)) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    std::string word(line.substr(at, end - at));
    const std::string_view before = line.substr(0, at);
    const bool is_member =
        before.ends_with('.') || (before.ends_with("->") && !before.ends_with("this->"));
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && !is_member &&
        std::ranges::find(words, word) == words.end())
      words.push_back(std::move(word));
    at = end;
  }
  return words;
}

const SourceFrame* first_of_user(const std::vector<SourceFrame>& frames) {
  const auto found = std::ranges::find_if(frames, is_user_code);
  return found == frames.end() ? nullptr : &*found;
}

class Looker {
 public:
  explicit Looker(debug::TimeTravel& travel) : travel_(travel) {
    reports_.maps = slurp(fmt::format("/proc/{}/maps", travel.tracee().pid()));
    symbols_ = std::make_unique<Symbolizer>(reports_);
    names_ = std::make_unique<RunNames>(*symbols_);
    read_ = [this](std::uint64_t address, std::span<std::uint8_t> into) {
      return travel_.tracee().read(address, into) == into.size();
    };
  }

  // All threads, for what their variables point to.
  void know(std::vector<ThreadState> threads) {
    situation_.read = read_;
    situation_.threads = std::move(threads);
  }

  ThreadValues look(const ThreadState& thread, bool runs) {
    ThreadValues result;
    result.thread = thread.id;
    result.runs = runs;
    for (const StackFrame& frame : names_->frames(thread, read_)) {
      auto sources = symbols_->frames({frame.pc});
      const SourceFrame* source = first_of_user(sources);
      // A thread that is stopped behind the call of a yield point stands at a jump without a line;
      // the call has one.
      if (source != nullptr && source->line == 0) {
        sources = symbols_->frames({frame.pc - 1});
        source = first_of_user(sources);
      }
      if (source == nullptr) continue;
      result.at = location_of(*source);
      add_lines(*source, frame, result.lines);
      break;
    }
    return result;
  }

 private:
  void add_lines(const SourceFrame& at, const StackFrame& frame, std::vector<ValuedLine>& lines) {
    // The name comes from the program: what is no file, or large, has no lines.
    const auto bytes = read_file(at.file, kMostSource);
    if (!bytes) return;
    const auto texts = lines_of({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    const std::uint32_t first =
        std::max(at.start_line, at.line > kLinesAround ? at.line - kLinesAround : 1);
    for (std::uint32_t number = first; number <= at.line + kLinesAround && number <= texts.size();
         ++number) {
      ValuedLine line{number, std::string(texts[number - 1].substr(0, kMostLine)), {}};
      for (std::string& word : words_of(line.source))
        if (auto value = value_of(word, frame))
          line.values.push_back({std::move(word), std::move(*value)});
      lines.push_back(std::move(line));
    }
  }

  // `type`: of the value. What a pointer points to has a size: an object and its first member begin at
  // one address.
  ValueContext context(const Type& type) {
    const Type* target = type.kind() == Type::Kind::kPointer ? type.target() : nullptr;
    const std::uint64_t size = target != nullptr ? target->size().value_or(0) : 0;
    return {read_, [this, size](std::uint64_t address) {
              ObjectName name = names_->name(address, size, situation_);
              if (!name.known() && size != 0) name = names_->name(address, 0, situation_);
              return name.kind == ObjectName::Kind::kLocal && !name.function.empty()
                         ? fmt::format("{} of {}", name.path, name.function)
                         : name.path;
            }};
  }

  // A variable of the function, a member of its object, or a global variable; nothing: none.
  std::optional<std::string> value_of(const std::string& word, const StackFrame& frame) {
    const std::uint64_t pc = frame.linked();
    const auto variables = frame.module->variables_at(pc);
    const auto own = std::ranges::find(variables, word, &Variable::name);
    if (own != variables.end()) return local_value(*own, frame);
    const auto object = std::ranges::find(variables, "this", &Variable::name);
    if (object != variables.end() && object->type != nullptr && object->type->target() != nullptr)
      if (const Type& type = *object->type->target(); find_member(type, word) != nullptr)
        return member_value(*object, type, word, frame);
    if (const auto global = frame.module->global_named(word); global && global->type != nullptr)
      return value_text_at(*global->type, global->address + frame.machine.bias,
                           context(*global->type));
    return std::nullopt;
  }

  std::string local_value(const Variable& variable, const StackFrame& frame) {
    if (variable.type == nullptr) return "of an unknown type";
    const Whereabouts at = frame.module->locate(variable, frame.linked(), frame.machine);
    if (at.kind == Whereabouts::Kind::kGone) return "optimised out";
    if (at.kind == Whereabouts::Kind::kMemory)
      return value_text_at(*variable.type, at.address, context(*variable.type));
    const auto bytes = frame.module->value_of(variable, frame.linked(), frame.machine);
    return bytes ? value_text(*variable.type, *bytes, context(*variable.type)) : "not known here";
  }

  std::string member_value(const Variable& object, const Type& type, const std::string& word,
                           const StackFrame& frame) {
    const auto pointer = frame.module->value_of(object, frame.linked(), frame.machine);
    const auto offset = offset_of(type, word);
    const Member* member = find_member(type, word);
    if (!pointer || pointer->size() != 8 || !offset)
      return frame.module->locate(object, frame.linked(), frame.machine).kind ==
                     Whereabouts::Kind::kGone
                 ? "optimised out (this)"
                 : "not known here";
    std::uint64_t address = 0;
    for (std::size_t i = 8; i-- > 0;) address = address << 8 | (*pointer)[i];
    if (member->bits == 0)
      return value_text_at(*member->type, address + *offset, context(*member->type));
    std::vector<std::uint8_t> bytes(8);
    if (!read_(address + *offset, bytes)) return "?";
    Member at_start = *member;
    at_start.offset = 0;
    return member_text(at_start, bytes, context(*member->type));
  }

  debug::TimeTravel& travel_;
  Reports reports_;
  std::unique_ptr<Symbolizer> symbols_;
  std::unique_ptr<RunNames> names_;
  ReadMemory read_;
  Situation situation_;
};

}  // namespace

Result<ValuesAt> values_at(const Replay& replay, std::uint64_t clock) {
  Replay quiet = replay;
  quiet.plan.output = OutputMode::kCaptureOnly;
  debug::TimeTravel travel(quiet);
  CLEW_CHECK_OK(travel.begin());
  const debug::Arrival arrival = travel.go_to(clock);
  if (arrival.kind == debug::Arrival::Kind::kLost)
    return fail(ErrorCode::kInternal, fmt::format("the replay did not come to clock {}: {}", clock,
                                                  travel.take_problem()));
  Looker looker(travel);
  ValuesAt result;
  result.clock = clock;
  const std::uint64_t current = travel.current();
  const auto threads = travel.threads();
  std::vector<ThreadState> states;  // the one that runs first
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const abi::DebugThread& thread = threads[i];
    const bool runs = i == current;
    if (thread.id[0] == '\0' || (!runs && (thread.state == abi::DebugThreadState::kFinished ||
                                           thread.state == abi::DebugThreadState::kNotStarted)))
      continue;
    ThreadState state;
    state.id = thread.id;
    state.registers = runs ? registers_of(travel.tracee().registers()) : registers_of(thread);
    state.thread_pointer = runs ? travel.tracee().registers().fs_base : thread.thread_pointer;
    states.insert(runs ? states.begin() : states.end(), std::move(state));
  }
  looker.know(states);
  for (const ThreadState& state : states)
    result.threads.push_back(
        looker.look(state, current < threads.size() && state.id == threads[current].id));
  return result;
}

}  // namespace clew
