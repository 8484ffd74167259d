#include "host/explain/hand_over.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>

#include "host/explain/memory_history.h"

namespace clew {
namespace {

constexpr std::size_t kMostNodes = 5'000;
constexpr std::size_t kMostSteps = 1'000;  // of the thread, back
constexpr int kAnyNumber = 1'000'000;
constexpr std::uint64_t kStackReach = std::uint64_t{8} << 20;

bool decides(const NodeDependence& one) {
  const DependenceKind kind = Comparison::kind_of(one.use);
  return one.control || kind == DependenceKind::kControl || kind == DependenceKind::kAddress;
}

// What `at` depends on apart from the value that it reads, in the failing run, the nearest first, through at
// most so many branches of the user's. What other threads did is met, but not followed.
std::vector<NodeId> deciding(TracedPair& pair, Instance at, int most_branches) {
  const RunTrace& run = pair.trace(kFailing);
  const std::uint16_t thread = run.steps()[at.step].thread;
  std::vector<NodeId> found;
  std::set<NodeId> seen;
  std::deque<std::pair<NodeId, int>> todo;  // with how many branches led to it
  const auto add = [&](const NodeDependence& one, int branches) {
    const NodeId node = one.on;
    if (is_unseen(node) || seen.contains(node)) return;
    const Instruction& code = run.instruction(instance_of(node));
    if (one.control && !code.is_call() && pair.place_of_code(code.address).user &&
        ++branches > most_branches)
      return;
    seen.insert(node);
    found.push_back(node);
    if (run.steps()[instance_of(node).step].thread == thread) todo.emplace_back(node, branches);
  };
  Comparison& runs = pair.comparison();
  for (const NodeDependence& one : runs.dependences(kFailing, node_of(at)))
    if (decides(one)) add(one, 0);
  while (!todo.empty() && found.size() < kMostNodes) {
    const auto [node, branches] = todo.front();
    todo.pop_front();
    for (const NodeDependence& one : runs.dependences(kFailing, node)) add(one, branches);
  }
  return found;
}

bool accesses(const RunTrace& run, Instance at, std::uint64_t address) {
  const auto [first, end] = run.accesses(at);
  for (std::uint32_t i = first; i < end; ++i)
    if (run.access_address(at.step, i) == address) return true;
  return false;
}

// What the address is made of that the instance accesses: by the pointers on the way it finds the memory, and says nothing of what is there.
std::set<NodeId> way_to(TracedPair& pair, Instance use) {
  constexpr std::size_t kMost = 40;
  const RunTrace& run = pair.trace(kFailing);
  std::set<NodeId> way;
  std::deque<NodeId> todo{node_of(use)};
  while (!todo.empty() && way.size() < kMost) {
    const NodeId node = todo.front();
    todo.pop_front();
    for (const NodeDependence& one : pair.comparison().dependences(kFailing, node)) {
      const DependenceKind kind = Comparison::kind_of(one.use);
      const bool leads = kind == DependenceKind::kAddress ||
                         (kind == DependenceKind::kRegister && node != node_of(use));
      if (one.control || !leads || is_unseen(one.on) ||
          run.steps()[instance_of(one.on).step].thread != run.steps()[use.step].thread)
        continue;
      if (way.insert(one.on).second) todo.push_back(one.on);
    }
  }
  return way;
}

bool is_on_stack(const RunTrace& run, std::uint16_t thread, std::uint64_t address) {
  const std::uint64_t top = run.stack_top(thread);
  return top != 0 && address < top && address + kStackReach > top;
}

}  // namespace

std::optional<Instance> let_go(TracedPair& pair, Instance early, std::uint16_t late_thread,
                               StepIndex late, std::uint64_t address,
                               const std::function<bool(Instance)>& counts) {
  const RunTrace& run = pair.trace(kFailing);
  Instance last;
  const SyncOrder& order = pair.order(kFailing, OrderedBy::kWaiting);
  const StepIndex known = order.last_before(early.step, late_thread);
  if (known != kNoStep && known < late) last = order.release_of(known);
  if (last.valid() && (accesses(run, last, address) || !counts(last))) last = {};
  for (const NodeId node : deciding(pair, early, kAnyNumber)) {
    const Instance at = instance_of(node);
    if (run.steps()[at.step].thread != late_thread || at.step >= late || accesses(run, at, address))
      continue;
    if ((!last.valid() || last < at) && counts(at)) last = at;
  }
  if (!last.valid()) return std::nullopt;
  return last;
}

bool depends_on(TracedPair& pair, Instance at, Instance on) {
  const auto found = deciding(pair, at, kAnyNumber);
  return std::ranges::find(found, node_of(on)) != found.end();
}

std::optional<GotPointer> where_got(TracedPair& pair, Instance use, std::uint64_t address) {
  const RunTrace& run = pair.trace(kFailing);
  const std::uint16_t thread = run.steps()[use.step].thread;
  Comparison& runs = pair.comparison();
  std::set<NodeId> seen;
  std::deque<NodeId> todo{node_of(use)};
  while (!todo.empty() && seen.size() < kMostNodes) {
    const NodeId node = todo.front();
    todo.pop_front();
    const Instance at = instance_of(node);
    if (run.steps()[at.step].thread != thread) continue;
    if (node != node_of(use)) {
      const auto [first, end] = run.accesses(at);
      for (std::uint32_t i = first; i < end; ++i) {
        const RecordedAccess& one = run.access(at.step, i);
        if (one.kind != AccessKind::kRead || !one.has_value || one.size != 8 ||
            is_on_stack(run, thread, run.access_address(at.step, i)))
          continue;
        const Allocation* memory = run.allocation(run.access_value(at.step, i), at.step);
        if (memory != nullptr && address >= memory->address &&
            address - memory->address < std::max<std::uint64_t>(memory->size, 1))
          return GotPointer{at, memory};
      }
    }
    for (const NodeDependence& one : runs.dependences(kFailing, node)) {
      const bool value = Comparison::kind_of(one.use) == DependenceKind::kMemory;
      if (one.control || (value && node == node_of(use))) continue;
      if (!is_unseen(one.on) && seen.insert(one.on).second) todo.push_back(one.on);
    }
  }
  return std::nullopt;
}

std::optional<ReadBeside> read_beside(TracedPair& pair, const DualSlice& slice, Instance use,
                                      PartyId other, StepIndex until, std::uint64_t address,
                                      BesideAge age,
                                      const std::function<bool(Instance, Instance)>& belongs) {
  constexpr std::size_t kMostUsers = 60;
  constexpr std::size_t kMostBeside = 80;  // values behind each of them
  constexpr std::size_t kSteps = 16;       // of the thread, before and behind
  const RunTrace& run = pair.trace(kFailing);
  const Parties& parties = pair.parties(kFailing);
  const PartyId party = parties.of(use.step);
  Comparison& runs = pair.comparison();
  const auto is_direct = [&](Instance at) {
    return pair.place_of_code(run.instruction(at).address).direct;
  };
  // What a container does inside has parts that are no business of the user's.
  if (!is_direct(use)) return std::nullopt;
  const auto write_of = [&](Instance read, std::uint32_t access) -> Instance {
    if (age == BesideAge::kNew) {
      const Instance from = pair.run(kFailing).source(read.step, access);
      const bool seen = from.step < RunTrace::kFromOutside && !run.instruction(from).is_call();
      return seen && from.step < until && parties.of(from.step) == other ? from : Instance{};
    }
    for (const MemoryAccess& one : history_of(run, run.access_address(read.step, access),
                                              std::max(run.access(read.step, access).size, 1u)))
      if (one.writes && !one.frees && read < one.at && one.at.step < until &&
          !run.instruction(one.at).is_call())
        return parties.of(one.at.step) == other ? one.at : Instance{};
    return {};
  };
  const std::set<NodeId> way = way_to(pair, use);
  const auto matches = [&](Instance at) -> std::optional<ReadBeside> {
    if (parties.of(at.step) != party || !is_direct(at) || way.contains(node_of(at)))
      return std::nullopt;
    const auto [first, end] = run.accesses(at);
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint64_t there = run.access_address(at.step, i);
      if (run.access(at.step, i).kind != AccessKind::kRead || there == address ||
          run.is_of_points(there))
        continue;
      if (const Instance write = write_of(at, i);
          write.valid() && belongs(pair.run(kFailing).source(at.step, i), write))
        return ReadBeside{at, write, there, run.access(at.step, i).size};
    }
    return std::nullopt;
  };
  // What is computed with it, there or where it is kept for; and what else that is computed with, the nearest
  // first.
  std::vector<NodeId> users{node_of(use)};
  for (std::size_t i = 0; i < users.size() && users.size() < kMostUsers; ++i)
    for (const NodeId user : slice.half[kFailing].data_users(users[i]))
      if (!is_unseen(user) && std::ranges::find(users, user) == users.end()) users.push_back(user);
  std::set<NodeId> seen(users.begin(), users.end());
  for (const NodeId user : users) {
    if (user != users.front())
      if (const auto found = matches(instance_of(user))) return found;
    std::deque<NodeId> todo{user};
    for (std::size_t i = 0; i < kMostBeside && !todo.empty(); ++i) {
      const NodeId node = todo.front();
      todo.pop_front();
      for (const NodeDependence& one : runs.dependences(kFailing, node)) {
        const DependenceKind kind = Comparison::kind_of(one.use);
        if ((kind != DependenceKind::kRegister && kind != DependenceKind::kMemory) ||
            is_unseen(one.on) || (node == users.front() && kind == DependenceKind::kMemory) ||
            !seen.insert(one.on).second)
          continue;
        if (const auto found = matches(instance_of(one.on))) return found;
        todo.push_back(one.on);
      }
    }
  }
  // What is read in the same line, in the same call.
  const CodePlace& place = pair.place(kFailing, use);
  const auto& list = run.thread(run.steps()[use.step].thread);
  const std::size_t here = run.position(use.step);
  for (std::size_t i = here > kSteps ? here - kSteps : 0; i < std::min(list.size(), here + kSteps);
       ++i) {
    if (run.steps()[list[i]].frame != run.steps()[use.step].frame) continue;
    for (std::uint32_t k = 0; k < run.steps()[list[i]].executed; ++k) {
      if (!(pair.place_of_code(run.code(list[i])[k].address) == place)) continue;
      if (const auto found = matches({list[i], k})) return found;
    }
  }
  return std::nullopt;
}

std::optional<ReadBeside> went_by(TracedPair& pair, Instance at, Instance write) {
  const RunTrace& run = pair.trace(kFailing);
  const std::uint16_t thread = run.steps()[at.step].thread;
  for (const NodeId node : deciding(pair, at, kAnyNumber)) {
    const Instance read = instance_of(node);
    if (run.steps()[read.step].thread != thread) continue;
    const auto [first, end] = run.accesses(read);
    for (std::uint32_t i = first; i < end; ++i)
      if (run.access(read.step, i).kind == AccessKind::kRead &&
          pair.run(kFailing).source(read.step, i) == write)
        return ReadBeside{read, write, run.access_address(read.step, i),
                          run.access(read.step, i).size};
  }
  return std::nullopt;
}

std::vector<StaleRead> stale_reads(TracedPair& pair, Instance at, StepIndex until,
                                   StaleReach reach) {
  const RunTrace& run = pair.trace(kFailing);
  const std::uint16_t thread = run.steps()[at.step].thread;
  std::vector<StaleRead> reads;
  std::unordered_multimap<std::uint64_t, std::size_t> by_address;
  std::set<Instance> seen;
  const auto look = [&](Instance read) {
    if (run.steps()[read.step].thread != thread || !seen.insert(read).second) return;
    const auto [first, end] = run.accesses(read);
    for (std::uint32_t i = first; i < end; ++i) {
      const RecordedAccess& one = run.access(read.step, i);
      const std::uint64_t address = run.access_address(read.step, i);
      const bool counts = one.kind == AccessKind::kRead ||
                          (one.kind == AccessKind::kUpdate && reach == StaleReach::kAll);
      if (!counts || !one.has_value || is_on_stack(run, thread, address) ||
          run.is_of_points(address))
        continue;
      by_address.emplace(address, reads.size());
      reads.push_back({read, i, {}, 0});
    }
  };
  for (const NodeId node : deciding(pair, at, reach == StaleReach::kBranch ? 1 : kAnyNumber))
    look(instance_of(node));
  if (reach == StaleReach::kAll) {
    const auto& list = run.thread(thread);
    std::size_t position = run.position(at.step) + 1u;
    for (std::size_t i = 0; i < kMostSteps && position > 0; ++i) {
      const StepIndex step = list[--position];
      for (std::uint32_t k = run.steps()[step].executed; k-- > 0;)
        if (Instance{step, k} < at && pair.place_of_code(run.code(step)[k].address).user)
          look({step, k});
    }
  }
  if (reads.empty()) return reads;
  for (StepIndex step = 0; step < std::min<std::size_t>(until, run.steps().size()); ++step) {
    const BlockStep& info = run.steps()[step];
    if (info.hidden || info.thread == thread) continue;
    const auto& accesses = run.block_of(step).accesses;
    for (std::uint32_t i = 0; i < accesses.size(); ++i) {
      const RecordedAccess& one = accesses[i];
      if (one.kind == AccessKind::kRead || one.kind == AccessKind::kString || !one.has_value ||
          one.instruction >= info.executed)
        continue;
      const auto [first, end] = by_address.equal_range(run.access_address(step, i));
      for (auto found = first; found != end; ++found) {
        StaleRead& read = reads[found->second];
        if (read.write.valid() || step < read.read.step ||
            run.access(read.read.step, read.access).size != one.size)
          continue;
        read.write = {step, one.instruction};
        read.write_access = i;
      }
    }
  }
  std::erase_if(reads, [](const StaleRead& one) { return !one.write.valid(); });
  return reads;
}

}  // namespace clew
