#include "host/explain/intervention.h"

#include <algorithm>
#include <utility>

namespace clew {
namespace {

bool is_last(const RunTrace& run, Instance at) {
  return at.instruction + 1u == run.steps()[at.step].executed;
}

// Whether the run continues directly with the next step: the runtime was not called in between.
bool follows_directly(const RunTrace& run, StepIndex step) {
  if (step + 1u >= run.steps().size()) return false;
  const auto& marks = run.marks();
  const auto mark = std::ranges::lower_bound(marks, step + 1u, {}, &RunTrace::Mark::step);
  return run.steps()[step + 1u].thread == run.steps()[step].thread &&
         (mark == marks.end() || mark->step != step + 1u);
}

std::array<Instance, 2> both(const RunsView& runs, const PathNode& node) {
  std::array<Instance, 2> at;
  at[node.side] = instance_of(node.node);
  at[other(node.side)] = runs.alignment->counterpart(node.side, at[node.side]);
  return at;
}

std::optional<Lever> branch_lever(const RunsView& runs, const std::array<Instance, 2>& at) {
  if (!runs.alignment->parts(kFailing, at[kFailing])) return std::nullopt;
  for (const WhichRun side : {kFailing, kPassing}) {
    const RunTrace& run = runs.trace(side);
    const Flow flow = run.instruction(at[side]).flow;
    const bool chooses =
        flow == Flow::kBranch || flow == Flow::kIndirectJump || flow == Flow::kIndirectCall;
    if (!chooses || !is_last(run, at[side]) || !follows_directly(run, at[side].step))
      return std::nullopt;
  }
  return Lever{Lever::Kind::kBranch, at};
}

// What an instruction writes can be changed behind its block: nothing in the rest of that may have used it.
bool is_used_at_once(const RunTrace& run, Instance at, std::uint32_t access) {
  if (run.access(at.step, access).kind == AccessKind::kRead) return false;
  const auto& block = run.code(at.step);
  const auto& accesses = run.block_of(at.step).accesses;
  const std::uint64_t address = run.access_address(at.step, access);
  const std::uint32_t size = run.access(at.step, access).size;
  for (std::uint32_t i = at.instruction + 1; i < run.steps()[at.step].executed; ++i)
    if ((block[i].reads & run.instruction(at).reads) != 0) return true;
  for (std::uint32_t i = access + 1; i < accesses.size(); ++i) {
    const std::uint64_t there = run.access_address(at.step, i);
    if (accesses[i].kind != AccessKind::kWrite && there < address + size &&
        address < there + std::max(accesses[i].size, 1u))
      return true;
  }
  return false;
}

std::optional<Lever> memory_lever(const RunsView& runs, const std::array<Instance, 2>& at) {
  const auto [first, end] = runs.trace(kFailing).accesses(at[kFailing]);
  const auto [there, end_there] = runs.trace(kPassing).accesses(at[kPassing]);
  for (std::uint32_t i = 0; first + i < end && there + i < end_there; ++i) {
    const RecordedAccess& access = runs.trace(kFailing).access(at[kFailing].step, first + i);
    if (!access.has_value || access.size > 8 ||
        is_used_at_once(runs.trace(kFailing), at[kFailing], first + i))
      continue;
    const Lever lever{Lever::Kind::kMemory, at, i};
    const std::uint64_t mine = runs.trace(kFailing).access_value(at[kFailing].step, first + i);
    const std::uint64_t theirs = runs.trace(kPassing).access_value(at[kPassing].step, there + i);
    // Pointers to the same thing are the same value.
    if (mine != theirs && (access.size < 8 || translated(runs, kFailing, theirs, lever) != mine))
      return lever;
  }
  return std::nullopt;
}

// The register that the instruction makes, if the rest of its block neither reads nor overwrites it: then it
// can be changed before the next block.
std::optional<Lever> register_lever(const RunsView& runs, const std::array<Instance, 2>& at) {
  constexpr int kStackPointer = 4;
  const RunTrace& run = runs.trace(kFailing);
  const Instruction& code = run.instruction(at[kFailing]);
  if (code.flow != Flow::kNext) return std::nullopt;
  for (int reg = 0; reg < kGeneralRegisters; ++reg) {
    if ((code.writes & bit_of(reg)) == 0 || reg == kStackPointer) continue;
    bool free = true;
    for (const WhichRun side : {kFailing, kPassing}) {
      const RunTrace& of = runs.trace(side);
      const auto& block = of.code(at[side].step);
      for (std::uint32_t i = at[side].instruction + 1; i < of.steps()[at[side].step].executed; ++i)
        free = free &&
               ((block[i].reads | block[i].address_reads | block[i].writes) & bit_of(reg)) == 0;
      free = free && follows_directly(of, at[side].step);
    }
    if (free) return Lever{Lever::Kind::kRegister, at, 0, reg};
  }
  return std::nullopt;
}

std::vector<std::uint8_t> bytes_of(std::uint64_t value, std::uint32_t size) {
  std::vector<std::uint8_t> bytes;
  for (std::uint32_t i = 0; i < size; ++i)
    bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  return bytes;
}

}  // namespace

RunsView view_of(TracedPair& pair) {
  return {{&pair.trace(kFailing), &pair.trace(kPassing)},
          {&pair.run(kFailing).threads(), &pair.run(kPassing).threads()},
          &pair.alignment()};
}

std::optional<Lever> find_lever(const RunsView& runs, const ToldStep& told) {
  using Find = std::optional<Lever> (*)(const RunsView&, const std::array<Instance, 2>&);
  std::vector<Find> ways{memory_lever, branch_lever, register_lever};
  if (told.step.branch) std::swap(ways[0], ways[1]);
  for (const Find way : ways)
    for (std::size_t i = told.nodes.size(); i-- > 0;) {
      const auto at = both(runs, told.nodes[i]);
      if (!at[kFailing].valid() || !at[kPassing].valid()) continue;
      if (const auto lever = way(runs, at)) return lever;
    }
  return std::nullopt;
}

std::optional<Lever> lever_of_read(const RunsView& runs, Instance failing, Instance passing,
                                   std::uint64_t address) {
  const RunTrace& run = runs.trace(kFailing);
  const auto [first, end] = run.accesses(failing);
  for (std::uint32_t i = first; i < end; ++i)
    if (run.access(failing.step, i).kind == AccessKind::kRead &&
        run.access(failing.step, i).has_value && run.access(failing.step, i).size <= 8 &&
        run.access_address(failing.step, i) == address)
      return Lever{Lever::Kind::kMemory, {failing, passing}, i - first};
  return std::nullopt;
}

std::optional<Lever> moved(const RunsView& to, const Lever& lever) {
  Lever result = lever;
  result.at[kFailing] = to.alignment->counterpart(kPassing, lever.at[kPassing]);
  if (!result.at[kFailing].valid()) return std::nullopt;
  return result;
}

std::optional<std::uint64_t> translated(const RunsView& runs, WhichRun to, std::uint64_t value,
                                        const Lever& lever) {
  const WhichRun from = other(to);
  if (const Allocation* theirs = runs.trace(from).allocation(value, lever.at[from].step)) {
    const Instance made{theirs->made, runs.trace(from).steps()[theirs->made].executed - 1u};
    const Instance here = runs.alignment->counterpart(from, made);
    const Allocation* mine = here.valid() ? runs.trace(to).allocation_made(here.step) : nullptr;
    if (mine == nullptr || mine->made > lever.at[to].step) return std::nullopt;
    return mine->address + (value - theirs->address);
  }
  const auto thread = stack_of(runs.trace(from), value);
  if (!thread) return value;
  const WorkItem* task = runs.alignment->task(from, lever.at[from].step);
  const WorkItem* here = runs.alignment->task(to, lever.at[to].step);
  if (task != nullptr && here != nullptr &&
      *thread == runs.trace(from).steps()[lever.at[from].step].thread)
    return value - runs.trace(from).frames()[task->frame].cfa +
           runs.trace(to).frames()[here->frame].cfa;
  const auto& ids = *runs.threads[to];
  const auto same = std::ranges::find(ids, (*runs.threads[from])[*thread]);
  const auto index = static_cast<std::size_t>(same - ids.begin());
  if (index >= runs.trace(to).thread_count() || runs.trace(to).stack_top(index) == 0)
    return std::nullopt;
  return value - runs.trace(from).stack_top(*thread) + runs.trace(to).stack_top(index);
}

std::optional<std::vector<RunChange>> put_value(const RunTrace& run, Instance at,
                                                std::uint32_t index, std::uint64_t value) {
  const RecordedAccess& access = run.access(at.step, index);
  const std::uint64_t address = run.access_address(at.step, index);
  const bool last = at.step + 1 >= run.steps().size();
  const std::uint64_t behind = last ? 0 : run.stream_offset(at.step + 1);
  if (access.kind != AccessKind::kRead) {
    if (last) return std::nullopt;
    return std::vector{RunChange{behind, address, bytes_of(value, access.size)}};
  }
  // For this read alone: memory is as it was when the block has ended.
  bool written = false;
  for (std::uint32_t i = 0; i < run.block_of(at.step).accesses.size(); ++i) {
    const RecordedAccess& one = run.access(at.step, i);
    const std::uint64_t there = run.access_address(at.step, i);
    if (one.kind == AccessKind::kRead || there >= address + access.size ||
        there + std::max(one.size, 1u) <= address)
      continue;
    if (i < index) return std::nullopt;
    written = true;
  }
  std::vector changes{RunChange{run.stream_offset(at.step), address, bytes_of(value, access.size)}};
  if (!written && !last)
    changes.push_back({behind, address, bytes_of(run.access_value(at.step, index), access.size)});
  return changes;
}

std::optional<std::vector<RunChange>> put_in(const RunsView& runs, WhichRun side,
                                             const Lever& lever, std::uint64_t other_register) {
  const RunTrace& run = runs.trace(side);
  const RunTrace& theirs = runs.trace(other(side));
  const Instance at = lever.at[side];
  const Instance there = lever.at[other(side)];
  RunChange change;
  switch (lever.kind) {
    case Lever::Kind::kMemory: {
      const std::uint32_t index = run.accesses(at).first + lever.access;
      std::uint64_t value =
          theirs.access_value(there.step, theirs.accesses(there).first + lever.access);
      if (run.access(at.step, index).size == 8) {
        const auto here = translated(runs, side, value, lever);
        if (!here) return std::nullopt;
        value = *here;
      }
      return put_value(run, at, index, value);
    }
    case Lever::Kind::kRegister: {
      const auto here = translated(runs, side, other_register, lever);
      if (!here) return std::nullopt;
      change = probe(run, at);
      change.reg = RunChange::RegisterValue{lever.reg, *here};
      return std::vector{change};
    }
    case Lever::Kind::kBranch:
      change = probe(run, at);
      change.continue_at = theirs.address(there.step + 1);
      return std::vector{change};
  }
  return std::nullopt;
}

RunChange probe(const RunTrace& run, Instance at) { return {run.stream_offset(at.step + 1)}; }

}  // namespace clew
