#include "host/explain/output_point.h"

#include <algorithm>
#include <array>
#include <optional>

#include "host/explain/memory_history.h"
#include "host/recording/file.h"

namespace clew {
namespace {

// Of each stream, to be compared. Chosen, not measured.
constexpr std::uint64_t kMostCompared = std::uint64_t{16} << 20;

struct OutputCall {
  StepIndex step = kNoStep;
  std::uint64_t memory = 0;
  std::uint64_t size = 0;
};

// write(): what libraries call inside is seen as a function, what the program calls is the runtime's.
bool is_write(CodeMap& code, const TraceFrame& frame) {
  return std::ranges::any_of(code.symbols(frame.entry), [](const ElfFile::Symbol& symbol) {
    return symbol.name == "write" || symbol.name == "__write" || symbol.name == "__libc_write";
  });
}

std::vector<OutputCall> output_calls(TracedPair& pair, WhichRun side, std::uint64_t descriptor) {
  const RunTrace& run = pair.trace(side);
  std::vector<OutputCall> found;
  const auto add = [&](StepIndex step, const CallRegisters& registers) {
    if ((registers.arguments[0] & UINT32_MAX) == descriptor)
      found.push_back({step, registers.arguments[1], registers.arguments[2]});
  };
  for (const OutsideCall& call : run.outside_calls())
    if (call.name == "write" || call.name == "__write") add(call.step, call.registers);
  for (const TraceFrame& frame : run.frames()) {
    if (frame.call == kNoStep || !is_write(pair.code(), frame)) continue;
    if (const auto registers = run.call_registers(frame.call)) add(frame.call, *registers);
  }
  std::ranges::sort(found, {}, &OutputCall::step);
  return found;
}

// The last instruction before the step that wrote the byte to this address, if it is that byte.
std::optional<PathNode> writer_of(TracedPair& pair, WhichRun side, std::uint64_t address,
                                  StepIndex until, std::uint8_t byte) {
  const RunTrace& run = pair.trace(side);
  const auto history = history_of(run, address, 1);
  for (std::size_t i = history.size(); i-- > 0;) {
    const auto& [at, access, writes, reads, frees] = history[i];
    if (!writes || at.step > until) continue;
    if (frees) return std::nullopt;  // what is there since was written by nobody who was seen
    const std::uint64_t offset = address - run.access_address(at.step, access);
    if (run.access(at.step, access).has_value && offset < run.access(at.step, access).size &&
        run.access_bytes(at.step, access)[offset] != byte)
      return std::nullopt;
    return PathNode{side, node_of(at)};
  }
  return std::nullopt;
}

// Memory that libc has allocated for what is put out: what is in it when the program ends is put out unseen.
std::vector<std::uint64_t> buffers(TracedPair& pair, WhichRun side) {
  const RunTrace& run = pair.trace(side);
  std::vector<std::uint64_t> found;
  for (const OutsideCall& call : run.outside_calls())
    if (call.name == "malloc" && call.result != 0 &&
        pair.code().symbol(run.frames()[run.steps()[call.step].frame].entry) ==
            "_IO_file_doallocate")
      found.push_back(call.result);
  return found;
}

// Who put out byte number `at` of the stream: the instruction that wrote it to memory, and the call, if it was seen.
std::vector<PathNode> who_put_out(TracedPair& pair, WhichRun side, std::uint64_t descriptor,
                                  std::uint64_t at, std::uint8_t byte) {
  const RunTrace& run = pair.trace(side);
  std::vector<PathNode> points;
  std::uint64_t before = 0;
  for (const OutputCall& call : output_calls(pair, side, descriptor)) {
    if (at >= before + call.size) {
      before += call.size;
      continue;
    }
    if (const auto writer = writer_of(pair, side, call.memory + (at - before), call.step, byte))
      points.push_back(*writer);
    points.push_back({side, node_of({call.step, run.steps()[call.step].executed - 1u})});
    return points;
  }
  for (const std::uint64_t buffer : buffers(pair, side))
    if (const auto writer = writer_of(pair, side, buffer + (at - before), kNoStep, byte)) {
      points.push_back(*writer);
      return points;
    }
  return points;
}

}  // namespace

std::vector<PathNode> output_points(TracedPair& pair, const Replay& failing,
                                    const Replay& passing) {
  constexpr std::uint64_t kStandardOutput = 1;
  constexpr std::uint64_t kStandardError = 2;
  for (const std::uint64_t descriptor : {kStandardOutput, kStandardError}) {
    const auto content = [&](const Replay& replay) {
      const Recording& of = replay.recording;
      return read_file_start(descriptor == kStandardOutput ? of.stdout_file() : of.stderr_file(),
                             kMostCompared);
    };
    const auto mine = content(failing);
    const auto theirs = content(passing);
    if (!mine || !theirs || *mine == *theirs) continue;
    const auto [here, there] = std::ranges::mismatch(*mine, *theirs);
    const auto at = static_cast<std::uint64_t>(here - mine->begin());
    const bool less = here == mine->end();
    return who_put_out(pair, less ? kPassing : kFailing, descriptor, at, less ? *there : *here);
  }
  return {};
}

}  // namespace clew
