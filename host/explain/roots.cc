#include <algorithm>
#include <ranges>
#include <set>
#include <unordered_map>

#include "host/explain/cause_event.h"
#include "host/explain/classifier.h"
#include "host/explain/hand_over.h"
#include "host/explain/sync_calls.h"
#include "host/observe/asan_shadow.h"

namespace clew {
namespace {

struct Use {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
};

// The memory that a dependence of the node is about: `use` has its access.
Use memory_of(const RunTrace& run, Instance at, std::uint64_t use) {
  const auto slot = static_cast<std::uint32_t>(use);
  if (slot == kReleasedSlot) {
    const OutsideCall* call = run.outside_call(at.step);
    return {call == nullptr ? 0 : call->registers.arguments[0], 1};
  }
  const auto [first, end] = run.accesses(at);
  const std::uint32_t index = first + (slot - 100);
  if (slot < 100 || index >= end) return {};
  return {run.access_address(at.step, index), std::max(run.access(at.step, index).size, 1u)};
}

// Made by another thread, or by a handler that has interrupted this one.
bool is_foreign(TracedPair& pair, WhichRun side, NodeId made, NodeId use) {
  if (is_unseen(made)) return false;
  const Parties& parties = pair.parties(side);
  return parties.of(instance_of(made).step) != parties.of(instance_of(use).step);
}

// What the thread would have accessed when it has found by AddressSanitizer's check that it must not: the report is given it.
std::optional<std::uint64_t> accessed_behind(TracedPair& pair, Instance check) {
  constexpr std::size_t kMostSteps = 6;
  const RunTrace& run = pair.trace(kFailing);
  const auto& list = run.thread(run.steps()[check.step].thread);
  const std::size_t from = run.position(check.step);
  for (std::size_t i = from; i < std::min(list.size(), from + kMostSteps); ++i) {
    const Instruction& last = run.code(list[i]).back();
    if (!last.is_call() || !pair.code().called(last).starts_with("__asan_report_")) continue;
    if (const auto registers = run.call_registers(list[i])) return registers->arguments[0];
  }
  return std::nullopt;
}

struct Candidate {
  Root root;
  bool named = false;
  bool last = false;  // what it reads is no difference in either run: the chain ends here
};

// Whether the use comes after all that the thread ever does which made what it uses: who has joined a thread cannot come too early or
// too late for it.
bool is_behind_end(TracedPair& pair, WhichRun side, NodeId made, NodeId use) {
  if (is_unseen(made)) return true;
  const RunTrace& run = pair.trace(side);
  const std::uint16_t thread = run.steps()[instance_of(made).step].thread;
  const StepIndex at = instance_of(use).step;
  if (thread == run.steps()[at].thread) return true;
  const StepIndex last = run.thread(thread).back();
  return last < at && pair.order(side).before(last, at) &&
         std::ranges::any_of(
             run.outside_calls(),
             [&](const OutsideCall& call) {
               return run.steps()[call.step].thread == run.steps()[at].thread && last < call.back &&
                      call.back <= at && sync_call(call).kind == SyncKind::kJoin;
             });
}

// What the use reads from other places of memory in the two runs, if another thread has written it in one of them.
void add_foreign(TracedPair& pair, Naming& naming, Root root, std::vector<Candidate>& found) {
  Comparison& runs = pair.comparison();
  const auto mine = runs.dependences(kFailing, root.use_failing);
  const auto theirs = runs.dependences(kPassing, root.use_passing);
  const Instance use = instance_of(root.use_failing);
  for (const NodeDependence& one : mine) {
    if (Comparison::kind_of(one.use) != DependenceKind::kMemory) continue;
    const auto same = std::ranges::find(theirs, one.use, &NodeDependence::use);
    if (same == theirs.end() || runs.counterpart(kFailing, one.on) == same->on) continue;
    const bool foreign = is_foreign(pair, kFailing, one.on, root.use_failing) ||
                         is_foreign(pair, kPassing, same->on, root.use_passing);
    if (!foreign) continue;
    const Use memory = memory_of(pair.trace(kFailing), use, one.use);
    root.from_failing = one.on;
    root.from_passing = same->on;
    root.address = memory.address;
    root.size = memory.size;
    root.checked = 0;
    if (const auto about = asan_shadowed(memory.address)) {
      root.checked = memory.address;
      root.address = accessed_behind(pair, use).value_or(*about);
    }
    root.settled = is_behind_end(pair, kFailing, root.from_failing, root.use_failing) &&
                   is_behind_end(pair, kPassing, root.from_passing, root.use_passing);
    const auto name = naming.memory(kFailing, use, memory.address, memory.size);
    const bool last = runs.difference(kFailing, one.on) == Difference::kNone &&
                      runs.difference(kPassing, same->on) == Difference::kNone;
    found.push_back({root, name && !name->made_up, last});
  }
}

// What the thread has made the value of, as far as the passing run does not come there. Pruned slices do not have it if nothing but the way
// there differs.
std::vector<NodeId> made_of(TracedPair& pair, NodeId end) {
  constexpr std::size_t kMost = 500;
  Comparison& runs = pair.comparison();
  std::vector<NodeId> nodes;
  const auto add = [&](NodeId node) {
    if (!is_unseen(node) && nodes.size() < kMost && runs.counterpart(kFailing, node) == kNoNode &&
        std::ranges::find(nodes, node) == nodes.end())
      nodes.push_back(node);
  };
  add(end);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeId node = nodes[i];
    for (const NodeDependence& one : runs.dependences(kFailing, node))
      if (!one.control && !is_unseen(one.on) && !is_foreign(pair, kFailing, one.on, node))
        add(one.on);
  }
  return nodes;
}

// Whether the memory was freed before the use, be it allocated again since: the pointer by which the thread comes there is older.
bool is_freed(TracedPair& pair, Instance use, std::uint64_t address) {
  const RunTrace& run = pair.trace(kFailing);
  const Allocation* memory = run.allocation(address, use.step);
  if (memory != nullptr && memory->freed < use.step) return true;
  const auto got = where_got(pair, use, address);
  return got && got->memory != memory && got->memory->freed < use.step;
}

// Uses that only the failing run comes to. Freed memory is never to be read. A null pointer that another thread has written there is a cause
// if the same instruction has run in the passing run, too, and always before that write. Of other values it says nothing that they
// should not have been read.
std::vector<Root> uses_of_failing_only(TracedPair& pair, NodeId end) {
  Comparison& runs = pair.comparison();
  const RunTrace& run = pair.trace(kFailing);
  const RunTrace& other_run = pair.trace(kPassing);
  std::vector<Root> found;
  std::set<std::uint64_t> code;  // of the reads of null
  for (const NodeId node : made_of(pair, end)) {
    for (const NodeDependence& one : runs.dependences(kFailing, node)) {
      if (Comparison::kind_of(one.use) != DependenceKind::kMemory ||
          !is_foreign(pair, kFailing, one.on, node))
        continue;
      const Instance at = instance_of(node);
      const Use memory = memory_of(run, at, one.use);
      if (memory.address == 0) continue;
      const bool freed = is_freed(pair, at, memory.address);
      const auto value = runs.value(kFailing, node);
      const bool null = memory.size == 8 && value && value->value == 0 &&
                        runs.counterpart(kFailing, one.on) != kNoNode;
      if (!freed && !null) continue;
      Root root;
      root.use_failing = node;
      root.from_failing = one.on;
      root.address = memory.address;
      root.size = memory.size;
      root.last = true;
      found.push_back(root);
      if (!freed) code.insert(run.instruction(at).address);
    }
  }
  if (code.empty()) return found;
  std::unordered_map<std::uint64_t, StepIndex> last;  // of each instruction, in the passing run
  for (StepIndex step = 0; step < other_run.steps().size(); ++step) {
    if (other_run.steps()[step].hidden) continue;
    const auto& block = other_run.code(step);
    const auto from = code.lower_bound(block.front().address);
    if (from == code.end() || *from > block.back().address) continue;
    for (std::uint32_t i = 0; i < other_run.steps()[step].executed; ++i)
      if (code.contains(block[i].address)) last[block[i].address] = step;
  }
  std::erase_if(found, [&](const Root& root) {
    if (!code.contains(run.instruction(instance_of(root.use_failing)).address)) return false;
    const auto ran = last.find(run.instruction(instance_of(root.use_failing)).address);
    const Instance write = instance_of(runs.counterpart(kFailing, root.from_failing));
    return ran == last.end() || ran->second >= write.step;
  });
  return found;
}

}  // namespace

std::vector<Root> find_roots(TracedPair& pair, Naming& naming, const DualSlice& slice, NodeId end) {
  std::vector<Candidate> found;
  Comparison& runs = pair.comparison();
  NodeTable seen;
  for (const WhichRun side : {kFailing, kPassing})
    for (const NodeId node : slice.half[side].nodes) {
      if (is_unseen(node)) continue;
      const NodeId there = runs.counterpart(side, node);
      if (there == kNoNode || !seen.add(side == kFailing ? node : there).second) continue;
      Root root;
      root.use_failing = side == kFailing ? node : there;
      root.use_passing = side == kFailing ? there : node;
      add_foreign(pair, naming, root, found);
      // A call from which nothing that was seen tells why its result differs.
      const Instance at = instance_of(root.use_failing);
      const OutsideCall* call = call_of(pair.trace(kFailing), root.use_failing);
      if (call != nullptr && runs.difference(kFailing, root.use_failing) == Difference::kValue &&
          !pair.alignment().parts(kFailing, at) && !releases_memory(call->name) &&
          !call->name.empty()) {
        root.from_failing = root.from_passing = NodeId{RunTrace::kFromOutside} << 8;
        root.address = 0;
        root.size = 0;
        found.push_back({root, false, false});
      }
    }
  // What comes first decides what follows.
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    const bool memory_a = a.root.address != 0, memory_b = b.root.address != 0;
    if (memory_a != memory_b) return memory_a;
    if (a.root.settled != b.root.settled) return b.root.settled;
    if (a.last != b.last) return a.last;
    if (a.named != b.named) return a.named;
    return a.root.use_failing < b.root.use_failing;
  });
  std::vector<Root> result;
  if (end != kNoNode) result = uses_of_failing_only(pair, end);
  for (const Candidate& one : found) {
    result.push_back(one.root);
    result.back().last = one.last;
  }
  return result;
}

std::vector<Root> roots_anywhere(TracedPair& pair, Naming& naming) {
  constexpr std::uint64_t kMostInstructions = 5'000'000;  // some seconds
  constexpr std::size_t kMost = 40;
  const RunTrace& run = pair.trace(kFailing);
  std::vector<Candidate> found;
  std::uint64_t looked_at = 0;
  for (StepIndex step = 0; step < run.steps().size(); ++step) {
    if (run.steps()[step].hidden) continue;
    for (std::uint32_t i = 0; i < run.steps()[step].executed; ++i) {
      if (found.size() >= kMost || ++looked_at > kMostInstructions) break;
      const Instance at{step, i};
      const auto [first, end] = run.accesses(at);
      if (first == end) continue;
      const Instance there = pair.alignment().counterpart(kFailing, at);
      if (!there.valid()) continue;
      Root root;
      root.use_failing = node_of(at);
      root.use_passing = node_of(there);
      const std::size_t before = found.size();
      add_foreign(pair, naming, root, found);
      if (found.size() > before && !pair.user_instance(kFailing, at).valid()) found.resize(before);
    }
  }
  std::erase_if(found, [](const Candidate& one) { return !one.named; });
  std::vector<Root> result;
  for (const Candidate& one : found) result.push_back(one.root);
  return result;
}

}  // namespace clew
