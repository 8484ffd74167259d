#include "host/observe/executed_lines.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace clew {
namespace {

// Below the highest address of a thread's stack: what has no name there is what compilers save.
constexpr std::uint64_t kStackSize = std::uint64_t{8} << 20;

constexpr std::uint8_t kThreadPrefix = 0x64;  // of instructions that use fs

class Walk {
 public:
  Walk(const RunTrace& trace, ClockWindow window, std::size_t most, Symbolizer& symbols,
       TraceNames& names)
      : trace_(trace), window_(window), most_(most), symbols_(symbols), names_(names) {}

  ExecutedLines run() {
    std::size_t mark = 0;
    const auto& marks = trace_.marks();
    for (StepIndex at = 0; at < trace_.steps().size() && clock_ <= window_.to; ++at) {
      for (; mark < marks.size() && marks[mark].step <= at; ++mark) {
        clock_ = marks[mark].clock;
        limit_ = marks[mark].limit;
        countdown_ = marks[mark].countdown;
      }
      step(at);
    }
    return std::move(result_);
  }

 private:
  // Where a thread is.
  struct Place {
    std::uint64_t begin = 0;  // the instruction that the line was begun with
    FrameIndex frame = kNoFrame;
    std::uint32_t line = 0;
    const std::string* file = nullptr;
  };

  void step(StepIndex at) {
    const BlockStep& step = trace_.steps()[at];
    if (step.thread != thread_) {
      thread_ = step.thread;
      now_ = {};
    }
    const auto& code = trace_.code(at);
    const auto& accesses = trace_.block_of(at).accesses;
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < step.executed; ++i) {
      if (!step.hidden && window_.has(clock_)) look(at, code[i].address);
      for (; next < accesses.size() && accesses[next].instruction == i; ++next)
        access(at, static_cast<std::uint32_t>(next));
    }
  }

  // The user's line of the instruction; null: it is of no such code.
  const SourceFrame* user_line(std::uint64_t address) {
    const auto [entry, added] = lines_.try_emplace(address);
    if (added)
      for (const SourceFrame& frame : symbols_.frames({address}))
        if (frame.line != 0 && is_user_code(frame)) {
          entry->second = frame;
          break;
        }
    return entry->second ? &*entry->second : nullptr;
  }

  void look(StepIndex at, std::uint64_t address) {
    const SourceFrame* line = user_line(address);
    in_user_code_ = line != nullptr;
    if (line == nullptr) return;
    const FrameIndex frame = trace_.steps()[at].frame;
    const bool same = now_.file != nullptr && now_.frame == frame && now_.line == line->line &&
                      *now_.file == line->file && now_.begin != address;
    if (same) return;
    now_ = {address, frame, line->line, &line->file};
    ++result_.total;
    if (result_.lines.size() < most_)
      result_.lines.push_back({clock_, thread_, location_of(*line), {}, 0});
  }

  void access(StepIndex at, std::uint32_t index) {
    const RecordedAccess& of = trace_.access(at, index);
    const std::uint64_t address = trace_.access_address(at, index);
    const std::uint64_t value = of.has_value ? trace_.access_value(at, index) : 0;
    if (address == countdown_ && of.has_value && limit_ != 0) clock_ = limit_ - 1 - value;
    if (trace_.is_of_points(address) || of.kind == AccessKind::kString || now_.file == nullptr ||
        trace_.steps()[at].hidden || !window_.has(clock_) || result_.total > most_)
      return;
    ExecutedLine& line = result_.lines.back();
    ExecutedAccess made{of.kind, address, of.size, of.has_value, value, {}, {}};
    const auto same = [&](const ExecutedAccess& one) {
      return one.kind == made.kind && one.address == made.address && one.size == made.size &&
             one.value == made.value;
    };
    if (std::ranges::any_of(line.accesses, same)) return;
    if (line.more > 0) {
      ++line.more;
      return;
    }
    made.name = names_.name(address, of.size, at);
    if (!is_told(made, at, of.instruction)) return;
    if (line.accesses.size() >= kMostLineAccesses) {
      ++line.more;
    } else {
      if (of.kind != AccessKind::kWrite) made.written_by = writer_of(at, index, address, of.size);
      line.accesses.push_back(std::move(made));
    }
  }

  std::optional<ExecutedWriter> writer_of(StepIndex at, std::uint32_t index, std::uint64_t address,
                                          std::uint32_t size) {
    const StepIndex source = trace_.source(at, index);
    if (source >= RunTrace::kFromOutside) return std::nullopt;
    Instance writer = trace_.writer(source, address, size);
    // In the same block: before the read.
    for (std::uint32_t i = index; source == at && i-- > 0;)
      if (const RecordedAccess& before = trace_.access(at, i);
          before.kind != AccessKind::kRead && before.kind != AccessKind::kString &&
          trace_.access_address(at, i) < address + size &&
          address < trace_.access_address(at, i) + before.size) {
        writer.instruction = before.instruction;
        break;
      }
    const SourceFrame* line = user_line(trace_.instruction(writer).address);
    if (line == nullptr) return std::nullopt;
    return ExecutedWriter{trace_.steps()[source].thread, location_of(*line)};
  }

  [[nodiscard]] bool is_told(const ExecutedAccess& made, StepIndex at, std::uint32_t instruction) {
    if (in_user_code_ && made.name.known()) return true;
    if (in_user_code_) {
      // What compilers save on the stack, keep in tables of a file, or ask of the thread itself.
      const std::uint64_t top = trace_.stack_top(trace_.steps()[at].thread);
      const TranslatedBlock& block = trace_.block_of(at);
      return (made.address > top || made.address + kStackSize < top) &&
             symbols_.module_of(made.address) == std::nullopt &&
             block.code[block.instructions[instruction]] != kThreadPrefix;
    }
    // Of what libraries do, that to the user's own data.
    switch (made.name.kind) {
      case ObjectName::Kind::kGlobal:
      case ObjectName::Kind::kThreadLocal:
        return true;
      case ObjectName::Kind::kHeap:
        return made.name.heap.part == ObjectName::Heap::Part::kObject &&
               !made.name.heap.type.empty();
      default:
        return false;
    }
  }

  const RunTrace& trace_;
  ClockWindow window_;
  std::size_t most_;
  Symbolizer& symbols_;
  TraceNames& names_;
  std::unordered_map<std::uint64_t, std::optional<SourceFrame>> lines_;
  std::uint64_t clock_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t countdown_ = 0;
  std::uint16_t thread_ = UINT16_MAX;
  Place now_;
  bool in_user_code_ = false;
  ExecutedLines result_;
};

}  // namespace

ExecutedLines executed_lines(const RunTrace& trace, ClockWindow window, std::size_t most,
                             Symbolizer& symbols, TraceNames& names) {
  return Walk(trace, window, most, symbols, names).run();
}

}  // namespace clew
