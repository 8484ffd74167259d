#include "host/cases/held_locks.h"

#include <algorithm>
#include <map>

#include "host/trace/lock_steps.h"

namespace clew {

std::vector<std::vector<Held>> locks_held(const LabRun& run) {
  Trace trace;
  trace.steps = run.steps;
  const std::vector<LockStep> attempts = lock_steps(trace);
  std::map<abi::ThreadKey, std::vector<Held>> now;
  std::vector<std::vector<Held>> result;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const TraceStep& step = run.steps[i];
    std::vector<Held>& mine = now[step.thread];
    result.push_back(mine);
    // Waiting on a condition variable gives up the lock; it is taken again by a step of its own.
    if (step.kind == abi::StepKind::kUnlock)
      std::erase_if(mine, [&](const Held& held) { return held.object == step.object; });
    if (step.kind == abi::StepKind::kWait) mine.clear();
    // One that may be shared with others orders nothing.
    if (step.kind == abi::StepKind::kLock &&
        (attempts[i] == LockStep::kObtained || attempts[i] == LockStep::kBlocked))
      mine.push_back({step.object, i});
  }
  return result;
}

std::optional<std::pair<Held, Held>> common_lock(const std::vector<std::vector<Held>>& held,
                                                 std::size_t first, std::size_t last,
                                                 std::size_t other) {
  for (const Held& mine : held[first])
    for (const Held& same : held[last])
      if (mine.object == same.object && mine.since == same.since)
        for (const Held& theirs : held[other])
          if (theirs.object == mine.object) return std::pair(mine, theirs);
  return std::nullopt;
}

std::optional<std::size_t> released_at(const LabRun& run, const Held& held) {
  const abi::ThreadKey thread = run.steps[held.since].thread;
  for (std::size_t i = held.since + 1; i < run.steps.size(); ++i) {
    const TraceStep& step = run.steps[i];
    if (step.thread != thread) continue;
    if (step.kind == abi::StepKind::kWait) return i;
    if (step.kind == abi::StepKind::kUnlock && step.object == held.object) return i;
  }
  return std::nullopt;
}

}  // namespace clew
