#include "host/explain/memory_history.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "clew_abi/point.h"

namespace clew {
namespace {

enum class LockCall : std::uint8_t { kNone, kTakes, kTries, kReleases };

LockCall lock_call(std::string_view name) {
  for (const std::string_view prefix :
       {"pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "mtx_"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view what = name.substr(prefix.size());
    if (what == "unlock") return LockCall::kReleases;
    if (what == "lock" || what == "rdlock" || what == "wrlock") return LockCall::kTakes;
    if (what.ends_with("lock")) return LockCall::kTries;
  }
  return LockCall::kNone;
}

bool ends_life(std::string_view name) {
  return name == "free" || name == "realloc" || name.starts_with("_Zdl") ||
         name.starts_with("_Zda");
}

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
    if (call == run.outside_calls().end() || call->step != step || !ends_life(call->name)) continue;
    const Allocation* freed = run.allocation(address, step);
    if (freed != nullptr && freed->freed == step)
      result.push_back({{step, info.executed - 1u}, 0, true, false, true});
  }
  return result;
}

std::set<std::uint64_t> locks_at(const RunTrace& run, StepIndex step) {
  std::set<std::uint64_t> held;
  const std::uint16_t thread = run.steps()[step].thread;
  for (const OutsideCall& call : run.outside_calls()) {
    if (call.step >= step) break;
    if (run.steps()[call.step].thread != thread) continue;
    const std::uint64_t object = call.registers.arguments[0];
    const bool back = call.back != kNoStep && call.back <= step;
    switch (lock_call(call.name)) {
      case LockCall::kTakes:
        if (back) held.insert(object);
        break;
      case LockCall::kTries:
        if (back && (call.result & UINT32_MAX) == 0) held.insert(object);
        break;
      case LockCall::kReleases:
        held.erase(object);
        break;
      case LockCall::kNone:
        break;
    }
  }
  return held;
}

bool is_atomic(TracedPair& pair, WhichRun side, Instance at, std::uint64_t address) {
  const RunTrace& run = pair.trace(side);
  const auto& list = run.thread(run.steps()[at.step].thread);
  std::size_t position = run.position(at.step);
  for (std::size_t i = 0; i < kMostBack && position > 0; ++i) {
    const OutsideCall* call = run.outside_call(list[--position]);
    if (call == nullptr || !call->name.starts_with("__clew_yield_") ||
        call->registers.arguments[1] != address)
      continue;
    const auto bytes = pair.code().code(call->registers.arguments[0]);
    if (bytes.size() < sizeof(abi::Point)) return false;
    abi::Point point;
    std::memcpy(&point, bytes.data(), sizeof point);
    return point.kind == abi::PointKind::kAtomicLoad ||
           point.kind == abi::PointKind::kAtomicStore || point.kind == abi::PointKind::kAtomicRmw ||
           point.kind == abi::PointKind::kAtomicCas;
  }
  return false;
}

}  // namespace clew
