#include "host/explain/comparison.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace clew {
namespace {

// A stack's memory, from its top down.
constexpr std::uint64_t kStackReach = std::uint64_t{8} << 20;
constexpr std::uint64_t kAboveTop = 0x10000;

}  // namespace

std::optional<std::size_t> stack_of(const RunTrace& run, std::uint64_t address) {
  for (std::size_t i = 0; i < run.thread_count(); ++i) {
    const std::uint64_t top = run.stack_top(i);
    if (top != 0 && address < top + kAboveTop && address + kStackReach > top) return i;
  }
  return std::nullopt;
}

Comparison::Comparison(const Dependences& failing, const Dependences& passing,
                       const Alignment& alignment)
    : runs_{&failing, &passing},
      alignment_(alignment),
      differences_{Known(failing.run()), Known(passing.run())} {}

Comparison::Known::Known(const RunTrace& run) {
  std::uint64_t count = 0;
  first_.reserve(run.steps().size());
  for (const BlockStep& step : run.steps()) {
    first_.push_back(static_cast<std::uint32_t>(count));
    count += step.executed;
  }
  bits_.resize(count / 4 + 1);
}

std::uint64_t Comparison::Known::number(NodeId node) const {
  const Instance at = instance_of(node);
  return std::uint64_t{first_[at.step]} + at.instruction;
}

std::optional<Difference> Comparison::Known::get(NodeId node) const {
  const std::uint64_t at = number(node);
  const int bits = bits_[at / 4] >> at % 4 * 2 & 3;
  return bits == 0 ? std::nullopt : std::optional(static_cast<Difference>(bits - 1));
}

void Comparison::Known::set(NodeId node, Difference difference) {
  const std::uint64_t at = number(node);
  bits_[at / 4] |= static_cast<std::uint8_t>((static_cast<int>(difference) + 1) << at % 4 * 2);
}

NodeId Comparison::counterpart(WhichRun side, NodeId node) {
  if (is_unseen(node)) return node;
  const Instance there = alignment_.counterpart(side, instance_of(node));
  return there.valid() ? node_of(there) : kNoNode;
}

std::vector<NodeDependence> Comparison::dependences(WhichRun side, NodeId node) {
  std::vector<NodeDependence> result;
  if (is_unseen(node)) return result;
  const Instance at = instance_of(node);
  const std::vector<Dependence> found = run(side).of(at);
  result.reserve(found.size());
  for (const Dependence& one : found) {
    // That a task is done is no difference, whoever does it.
    if (one.kind != DependenceKind::kMemory && comes_from_outside(side, at, one.on)) continue;
    result.push_back({node_of(one.on),
                      std::uint64_t{static_cast<std::uint8_t>(one.kind)} << 32 | one.slot,
                      one.kind == DependenceKind::kControl});
  }
  return result;
}

bool Comparison::comes_from_outside(WhichRun side, Instance at, Instance from) const {
  const WorkItem* task = alignment_.task(side, at.step);
  return task != nullptr && from.step < RunTrace::kFromOutside &&
         from.step < trace(side).frames()[task->frame].first;
}

bool Comparison::same_argument(Instance failing, Instance passing, int reg) const {
  constexpr std::array kArguments = {7, 6, 2, 1, 8, 9};  // rdi, rsi, rdx, rcx, r8, r9
  const auto number = std::ranges::find(kArguments, reg) - kArguments.begin();
  if (number == kArguments.size()) return true;  // the caller's, which gets it back
  const auto call = [&](WhichRun side, Instance at) {
    return trace(side).frames()[alignment_.task(side, at.step)->frame].call;
  };
  const StepIndex mine = call(kFailing, failing);
  const StepIndex theirs = call(kPassing, passing);
  const auto given = trace(kFailing).call_registers(mine);
  const auto given_there = trace(kPassing).call_registers(theirs);
  return given && given_there &&
         same_value(given->arguments[number], failing.step, given_there->arguments[number],
                    passing.step, 8);
}

bool Comparison::same_value(std::uint64_t failing, StepIndex at_failing, std::uint64_t passing,
                            StepIndex at_passing, std::uint32_t size) const {
  if (size < 8) return failing == passing;
  const Allocation* a = trace(kFailing).allocation(failing, at_failing);
  const Allocation* b = trace(kPassing).allocation(passing, at_passing);
  if (a != nullptr && b != nullptr) {
    const Instance made{a->made, trace(kFailing).steps()[a->made].executed - 1u};
    const Instance there = alignment_.counterpart(kFailing, made);
    return there.valid() && there.step == b->made && failing - a->address == passing - b->address;
  }
  if (a != nullptr || b != nullptr) return false;
  if (failing == passing) return true;
  const auto mine = stack_of(trace(kFailing), failing);
  const auto theirs = stack_of(trace(kPassing), passing);
  const WorkItem* task = alignment_.task(kFailing, at_failing);
  const WorkItem* task_there = alignment_.task(kPassing, at_passing);
  if (mine && theirs && task != nullptr && task_there != nullptr &&
      *mine == trace(kFailing).steps()[at_failing].thread &&
      *theirs == trace(kPassing).steps()[at_passing].thread)
    return trace(kFailing).frames()[task->frame].cfa - failing ==
           trace(kPassing).frames()[task_there->frame].cfa - passing;
  return mine && theirs && run(kFailing).threads()[*mine] == run(kPassing).threads()[*theirs] &&
         trace(kFailing).stack_top(*mine) - failing == trace(kPassing).stack_top(*theirs) - passing;
}

std::optional<Comparison::Value> Comparison::value(WhichRun side, NodeId node) const {
  if (is_unseen(node)) return std::nullopt;
  const Instance at = instance_of(node);
  const RunTrace& of = trace(side);
  const auto [first, end] = of.accesses(at);
  std::optional<Value> result;
  for (std::uint32_t i = first; i < end; ++i) {
    const RecordedAccess& access = of.access(at.step, i);
    if (!access.has_value || access.kind == AccessKind::kString) continue;
    // What is written is the result, if anything is.
    if (result && access.kind == AccessKind::kRead) continue;
    result = {of.access_value(at.step, i), access.size, of.access_address(at.step, i)};
  }
  if (result || !of.instruction(at).is_call()) return result;
  if (const auto returned = of.call_result(at.step)) return Value{*returned, 8, 0};
  return std::nullopt;
}

std::optional<std::uint64_t> Comparison::value_before(WhichRun side, Instance access) const {
  const RunTrace& of = trace(side);
  const Instance from = run(side).source(access.step, access.instruction);
  if (from.step >= RunTrace::kFromOutside) return std::nullopt;
  const std::uint64_t address = of.access_address(access.step, access.instruction);
  const auto [first, end] = of.accesses(from);
  for (std::uint32_t i = first; i < end; ++i)
    if (of.access(from.step, i).has_value && of.access(from.step, i).kind != AccessKind::kRead &&
        of.access_address(from.step, i) == address)
      return of.access_value(from.step, i);
  return std::nullopt;
}

// Whether something reads a register that the instruction has written, before it is overwritten.
bool Comparison::uses_registers(Instance at) const {
  constexpr int kMostInstructions = 200;
  const RunTrace& of = trace(kFailing);
  const auto& list = of.thread(of.steps()[at.step].thread);
  RegisterSet wanted = of.instruction(at).writes;
  std::uint32_t next = at.instruction + 1;
  int looked = 0;
  for (std::size_t i = of.position(at.step); i < list.size() && wanted != 0; ++i, next = 0)
    for (; next < of.steps()[list[i]].executed && wanted != 0; ++next) {
      const Instruction& code = of.code(list[i])[next];
      if (((code.reads | code.address_reads) & wanted) != 0) return true;
      wanted &= ~code.writes;
      if (++looked > kMostInstructions) return false;
    }
  return false;
}

bool Comparison::same_before(Instance failing, Instance passing, std::uint32_t size) const {
  const auto mine = value_before(kFailing, failing);
  const auto theirs = value_before(kPassing, passing);
  if (mine && theirs) return same_value(*mine, failing.step, *theirs, passing.step, size);
  // As it was at the start in one of them only: it may have been the same.
  return !mine && !theirs;
}

// Each of eight bytes may be a pointer.
bool Comparison::same_words(Instance failing, std::uint32_t i, Instance passing,
                            std::uint32_t j) const {
  const auto mine = trace(kFailing).access_bytes(failing.step, i);
  const auto theirs = trace(kPassing).access_bytes(passing.step, j);
  for (std::size_t at = 0; at < mine.size(); at += 8) {
    const std::size_t size = std::min<std::size_t>(8, mine.size() - at);
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, mine.data() + at, size);
    std::memcpy(&b, theirs.data() + at, size);
    if (!same_value(a, failing.step, b, passing.step, static_cast<std::uint32_t>(size)))
      return false;
  }
  return true;
}

// By what it accesses, or returns; nothing: what it makes is in registers alone.
std::optional<bool> Comparison::differs_in_memory(Instance failing, Instance passing) const {
  if (alignment_.parts(kFailing, failing)) return true;
  const RunTrace& f = trace(kFailing);
  const RunTrace& p = trace(kPassing);
  const Instruction& code = f.instruction(failing);
  if (code.flow == Flow::kBranch || code.flow == Flow::kReturn || code.flow == Flow::kJump)
    return false;
  if (const OutsideCall* call = f.outside_call(failing.step); call != nullptr && code.is_call()) {
    const OutsideCall* there = p.outside_call(passing.step);
    return there == nullptr || call->back == kNoStep || there->back == kNoStep ||
           !same_value(call->result, failing.step, there->result, passing.step, 8);
  }
  if (code.is_call()) return false;
  const auto [first, end] = f.accesses(failing);
  const auto [first_there, end_there] = p.accesses(passing);
  bool decided = false;
  for (std::uint32_t i = first; i < end && first_there + (i - first) < end_there; ++i) {
    const std::uint32_t j = first_there + (i - first);
    const RecordedAccess& access = f.access(failing.step, i);
    if (!access.has_value) continue;
    if (f.is_of_points(f.access_address(failing.step, i))) return false;
    // Beyond eight bytes there may be several values, which are looked at one by one where they are used.
    if (access.size > 8 && access.size == p.access(passing.step, j).size) {
      if (!std::ranges::equal(f.access_bytes(failing.step, i), p.access_bytes(passing.step, j)) &&
          !same_words(failing, i, passing, j))
        return true;
    } else if (!same_value(f.access_value(failing.step, i), failing.step,
                           p.access_value(passing.step, j), passing.step, access.size)) {
      return true;
    }
    // The same value, but put elsewhere: what reads either place gets it in one run only.
    if (access.kind != AccessKind::kRead &&
        !same_value(f.access_address(failing.step, i), failing.step,
                    p.access_address(passing.step, j), passing.step, 8))
      return true;
    // An exchange leaves in a register what was there before.
    if (access.kind == AccessKind::kUpdate && uses_registers(failing) &&
        !same_before({failing.step, i}, {passing.step, j}, access.size))
      return true;
    decided |= access.kind != AccessKind::kRead || code.copies;
  }
  return decided ? std::optional(false) : std::nullopt;
}

Comparison::Verdict Comparison::compare(Instance failing, Instance passing, NodeId& missing) {
  if (const auto differs = differs_in_memory(failing, passing))
    return *differs ? Verdict::kDifferent : Verdict::kSame;
  // Aligned instances are of the same instruction.
  for (RegisterSet left = trace(kFailing).instruction(failing).reads; left != 0; left &= left - 1) {
    const int reg = std::countr_zero(left);
    const Instance made = run(kFailing).definition(failing, reg);
    const Instance made_there = run(kPassing).definition(passing, reg);
    if (comes_from_outside(kFailing, failing, made) &&
        comes_from_outside(kPassing, passing, made_there)) {
      if (!same_argument(failing, passing, reg)) return Verdict::kDifferent;
      continue;
    }
    const NodeId mine = node_of(made);
    const NodeId theirs = node_of(made_there);
    if (counterpart(kFailing, mine) != theirs) return Verdict::kDifferent;
    if (is_unseen(mine)) continue;
    const auto known = differences_[kFailing].get(mine);
    if (!known) {
      missing = mine;
      return Verdict::kNotYet;
    }
    if (*known != Difference::kNone) return Verdict::kDifferent;
  }
  return Verdict::kSame;
}

std::optional<Difference> Comparison::find_difference(WhichRun side, NodeId node, NodeId& missing) {
  const Instance at = instance_of(node);
  const Instance there = alignment_.counterpart(side, at);
  if (!there.valid())
    return alignment_.cut_off(side, at.step) ? Difference::kNone : Difference::kFlow;
  const bool failing = side == kFailing;
  switch (compare(failing ? at : there, failing ? there : at, missing)) {
    case Verdict::kSame:
      return Difference::kNone;
    case Verdict::kDifferent:
      return Difference::kValue;
    case Verdict::kNotYet:
      break;
  }
  return std::nullopt;
}

// Registers can hand a value on through a whole loop: with a list of its own, as deep as that goes.
Difference Comparison::difference(WhichRun side, NodeId node) {
  if (is_unseen(node)) return Difference::kNone;
  if (const auto known = differences_[side].get(node)) return *known;
  std::vector<std::pair<WhichRun, NodeId>> todo{{side, node}};
  while (true) {
    const auto [of, at] = todo.back();
    NodeId missing = kNoNode;
    const auto found = find_difference(of, at, missing);
    if (!found) {
      todo.emplace_back(kFailing, missing);
      continue;
    }
    differences_[of].set(at, *found);
    todo.pop_back();
    if (todo.empty()) return *found;
  }
}

}  // namespace clew
