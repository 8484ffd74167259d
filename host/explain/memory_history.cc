#include "host/explain/memory_history.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "host/explain/sync_calls.h"

namespace clew {
namespace {

// How far back the point of an access is looked for, in steps of the thread.
constexpr std::size_t kMostBack = 12;

}  // namespace

std::vector<MemoryAccess> history_of(const RunTrace& run, std::uint64_t address,
                                     std::uint32_t size) {
  std::vector<MemoryAccess> result;
  const std::uint64_t end = address + std::max(size, 1u);
  auto call = run.outside_calls().begin();
  for (StepIndex step = 0; step < run.steps().size(); ++step) {
    const BlockStep& info = run.steps()[step];
    if (info.hidden) continue;
    const auto& accesses = run.block_of(step).accesses;
    for (std::uint32_t i = 0; i < accesses.size(); ++i) {
      const RecordedAccess& one = accesses[i];
      if (one.instruction >= info.executed || one.kind == AccessKind::kString) continue;
      const std::uint64_t at = run.access_address(step, i);
      if (at >= end || at + one.size <= address) continue;
      result.push_back({{step, one.instruction},
                        i,
                        one.kind != AccessKind::kRead,
                        one.kind != AccessKind::kWrite,
                        false});
    }
    while (call != run.outside_calls().end() && call->step < step) ++call;
    if (call == run.outside_calls().end() || call->step != step || !releases_memory(call->name))
      continue;
    const Allocation* freed = run.allocation(address, step);
    if (freed != nullptr && freed->freed == step)
      result.push_back({{step, info.executed - 1u}, 0, true, false, true});
  }
  return result;
}

HeldLocks locks_at(const RunTrace& run, StepIndex step) {
  std::map<std::uint64_t, std::pair<int, LockMode>> held;  // how often, and how last
  const std::uint16_t thread = run.steps()[step].thread;
  for (const OutsideCall& call : run.outside_calls()) {
    if (call.step >= step) break;
    if (run.steps()[call.step].thread != thread) continue;
    const SyncCall what = sync_call(call);
    if (what.kind != SyncKind::kLock) continue;
    if (what.step == SyncStep::kReleases) {
      if (int& times = held[what.object].first; times > 0) --times;
    } else if (call.back != kNoStep && call.back <= step) {
      auto& [times, mode] = held[what.object];
      ++times;
      mode = call.name.contains("rdlock") ? LockMode::kShared : LockMode::kExclusive;
    }
  }
  HeldLocks result;
  for (const auto& [lock, state] : held)
    if (state.first > 0) result.emplace(lock, state.second);
  return result;
}

std::set<std::uint64_t> excluding(const HeldLocks& first, const HeldLocks& second) {
  std::set<std::uint64_t> result;
  for (const auto& [lock, mode] : first)
    if (const auto same = second.find(lock);
        same != second.end() &&
        (mode == LockMode::kExclusive || same->second == LockMode::kExclusive))
      result.insert(lock);
  return result;
}

abi::PointKind point_kind_of(TracedPair& pair, WhichRun side, Instance at, std::uint64_t address) {
  const RunTrace& run = pair.trace(side);
  const auto& list = run.thread(run.steps()[at.step].thread);
  std::size_t position = run.position(at.step);
  for (std::size_t i = 0; i < kMostBack && position > 0; ++i) {
    const OutsideCall* call = run.outside_call(list[--position]);
    if (call != nullptr && call->name.starts_with("__clew_yield_") &&
        call->registers.arguments[1] == address)
      return point_kind(pair.code(), *call);
  }
  return abi::PointKind::kCount;
}

bool is_atomic(TracedPair& pair, WhichRun side, Instance at, std::uint64_t address) {
  return is_atomic(point_kind_of(pair, side, at, address));
}

}  // namespace clew
