#include "host/explain/wrong_turn.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "host/explain/activity.h"
#include "host/explain/memory_history.h"

namespace clew {
namespace {

// Whether the instance is computed from the other, of the same thread.
bool computed_from(TracedPair& pair, Instance at, Instance from) {
  constexpr std::size_t kMostNodes = 300;
  const RunTrace& run = pair.trace(kFailing);
  std::set<Instance> seen{at};
  std::deque<Instance> todo{at};
  while (!todo.empty() && seen.size() < kMostNodes) {
    const Instance one = todo.front();
    todo.pop_front();
    if (one == from) return true;
    for (const Dependence& on : pair.run(kFailing).of(one)) {
      const bool passes =
          on.kind == DependenceKind::kRegister || on.kind == DependenceKind::kMemory;
      if (passes && on.on.step < RunTrace::kFromOutside && !(on.on < from) &&
          run.steps()[on.on.step].thread == run.steps()[from.step].thread &&
          seen.insert(on.on).second)
        todo.push_back(on.on);
    }
  }
  return false;
}

// The reads of shared memory that the branch is computed from.
std::vector<Instance> read_for(TracedPair& pair, Instance branch) {
  constexpr std::size_t kMostNodes = 60;
  const RunTrace& run = pair.trace(kFailing);
  std::vector<Instance> found;
  std::set<Instance> seen{branch};
  std::deque<Instance> todo{branch};
  while (!todo.empty() && seen.size() < kMostNodes) {
    const Instance one = todo.front();
    todo.pop_front();
    const auto [first, end] = run.accesses(one);
    if (std::ranges::any_of(std::views::iota(first, end), [&](std::uint32_t k) {
          const std::uint64_t address = run.access_address(one.step, k);
          return !run.is_of_points(address) && !stack_of(run, address);
        })) {
      found.push_back(one);
      continue;
    }
    for (const Dependence& on : pair.run(kFailing).of(one)) {
      const bool passes =
          on.kind == DependenceKind::kRegister || on.kind == DependenceKind::kMemory;
      if (passes && on.on.step < RunTrace::kFromOutside &&
          run.steps()[on.on.step].thread == run.steps()[branch.step].thread &&
          seen.insert(on.on).second)
        todo.push_back(on.on);
    }
  }
  return found;
}

// The thread's own access before, in one round with the read, if another thread has written between the two.
std::optional<SplitCheck> split_by_other(TracedPair& pair, Instance read) {
  const RunTrace& run = pair.trace(kFailing);
  const Parties& parties = pair.parties(kFailing);
  const auto [first, end] = run.accesses(read);
  for (std::uint32_t k = first; k < end; ++k) {
    const std::uint64_t address = run.access_address(read.step, k);
    const std::uint32_t size = std::max(run.access(read.step, k).size, 1u);
    if (run.is_of_points(address) || stack_of(run, address)) continue;
    Instance own, remote;
    for (const MemoryAccess& one : history_of(run, address, size)) {
      if (!(one.at < read)) break;
      if (one.frees) continue;
      if (parties.of(one.at.step) == parties.of(read.step)) {
        own = one.at;
        remote = {};
      } else if (one.writes && own.valid() && !remote.valid()) {
        remote = one.at;
      }
    }
    if (remote.valid() && in_one_round(pair, own, read))
      return SplitCheck{own, remote, read, address, size};
  }
  return std::nullopt;
}

// Whether the thread goes a way by what it has read there.
bool branches_on(TracedPair& pair, Instance read) {
  constexpr std::size_t kMostSteps = 12;
  const RunTrace& run = pair.trace(kFailing);
  const auto& list = run.thread(run.steps()[read.step].thread);
  const std::size_t from = run.position(read.step);
  for (std::size_t i = from; i < std::min(list.size(), from + kMostSteps); ++i) {
    if (run.steps()[list[i]].hidden || run.steps()[list[i]].executed == 0) continue;
    const Instance last{list[i], run.steps()[list[i]].executed - 1u};
    if (run.instruction(last).flow == Flow::kBranch && read < last &&
        computed_from(pair, last, read))
      return true;
  }
  return false;
}

// Whether it belongs to what `missed` belongs to, in the run that has that.
bool is_of_same_work(TracedPair& pair, Instance write, WhichRun side, Instance missed) {
  const Instance there = side == kFailing ? write : pair.alignment().counterpart(kFailing, write);
  return there.valid() && there < missed && in_one_round(pair, there, missed, side);
}

}  // namespace

bool is_turned_by(TracedPair& pair, Instance at, Instance read) {
  constexpr int kMostBranches = 40;
  const RunTrace& run = pair.trace(kFailing);
  Instance branch = at;
  for (int i = 0; i < kMostBranches; ++i) {
    branch = pair.run(kFailing).control(branch);
    if (!branch.valid() || branch.step >= RunTrace::kFromOutside || branch < read) return false;
    if (run.instruction(branch).flow == Flow::kBranch && pair.alignment().parts(kFailing, branch) &&
        computed_from(pair, branch, read))
      return true;
  }
  return false;
}

std::vector<SplitCheck> split_checks(TracedPair& pair, Instance at) {
  constexpr int kMostBranches = 12;
  constexpr std::size_t kMost = 4;  // each is tested by a run
  const RunTrace& run = pair.trace(kFailing);
  std::vector<SplitCheck> found;
  Instance branch = at;
  for (int i = 0; i < kMostBranches && found.size() < kMost; ++i) {
    branch = pair.run(kFailing).control(branch);
    if (!branch.valid() || branch.step >= RunTrace::kFromOutside) break;
    if (run.instruction(branch).flow != Flow::kBranch ||
        !pair.place_of_code(run.instruction(branch).address).direct)
      continue;
    for (const Instance read : read_for(pair, branch))
      if (const auto split = split_by_other(pair, read)) found.push_back(*split);
  }
  return found;
}

std::vector<EarlyFlag> early_flags(TracedPair& pair, Instance use, WhichRun side, Instance missed) {
  constexpr std::size_t kMostSteps = 1'000;  // of the thread, back
  constexpr std::size_t kMost = 6;           // each is tested by a run
  const RunTrace& run = pair.trace(kFailing);
  const std::string& late = pair.run(side).threads()[pair.trace(side).steps()[missed.step].thread];
  const auto& list = run.thread(run.steps()[use.step].thread);
  std::vector<EarlyFlag> found;
  std::set<std::pair<Instance, std::uint64_t>> known;  // a loop reads the same many times
  std::size_t position = run.position(use.step) + 1u;
  for (std::size_t i = 0; i < kMostSteps && position > 0 && found.size() < kMost; ++i) {
    const StepIndex step = list[--position];
    if (run.steps()[step].hidden) continue;
    const auto& accesses = run.block_of(step).accesses;
    for (std::uint32_t k = 0; k < accesses.size() && found.size() < kMost; ++k) {
      const Instance read{step, accesses[k].instruction};
      const std::uint64_t address = run.access_address(step, k);
      if (accesses[k].kind == AccessKind::kWrite || accesses[k].kind == AccessKind::kString ||
          accesses[k].instruction >= run.steps()[step].executed || !(read < use) ||
          run.is_of_points(address) || stack_of(run, address))
        continue;
      const Instance write = pair.run(kFailing).source(step, k);
      if (write.step >= RunTrace::kFromOutside ||
          pair.run(kFailing).threads()[run.steps()[write.step].thread] != late ||
          !(pair.place_of_code(run.instruction(read).address).direct ||
            is_atomic(pair, kFailing, read, address)) ||
          !is_of_same_work(pair, write, side, missed) || !branches_on(pair, read) ||
          !known.emplace(write, run.instruction(read).address).second)
        continue;
      found.push_back({read, write, address, std::max(accesses[k].size, 1u)});
    }
  }
  return found;
}

}  // namespace clew
