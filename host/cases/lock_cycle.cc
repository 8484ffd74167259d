#include "host/cases/lock_cycle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace clew {
namespace {

struct Holder {
  abi::ThreadKey thread = 0;
  std::size_t taken = 0;
};

// What the threads hold when the run is over, and what they wait for by a step of their own.
struct End {
  std::map<std::uint64_t, Holder> held;          // by lock
  std::map<abi::ThreadKey, std::size_t> last;    // step
  std::map<abi::ThreadKey, TraceStep> attempts;  // that was not obtained, and nothing after it
};

End end_of(const LabRun& run) {
  End end;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const TraceStep& step = run.steps[i];
    end.last[step.thread] = i;
    end.attempts.erase(step.thread);
    const auto holder = end.held.find(step.object);
    const bool is_held = holder != end.held.end();
    if (step.kind == abi::StepKind::kLock && is_held && holder->second.thread != step.thread)
      end.attempts[step.thread] = step;
    else if (step.kind == abi::StepKind::kLock && !is_held)
      end.held[step.object] = {step.thread, i};
    else if (step.kind == abi::StepKind::kUnlock && is_held)
      end.held.erase(holder);
  }
  return end;
}

// What a thread does next in a run in which it has done the same until then.
std::optional<TraceStep> next_of(const TraceStep& last, const LabRun& run) {
  const auto same = std::ranges::find_if(run.steps, [&](const TraceStep& step) {
    return step.thread == last.thread && step.own == last.own && step.place == last.place &&
           step.object == last.object;
  });
  if (same == run.steps.end()) return std::nullopt;
  const auto next = std::find_if(std::next(same), run.steps.end(),
                                 [&](const TraceStep& step) { return step.thread == last.thread; });
  if (next == run.steps.end()) return std::nullopt;
  return *next;
}

// The lock that each thread is about to take and another one holds.
std::map<abi::ThreadKey, TraceStep> attempts_of(const LabRun& failing, const End& end,
                                                const std::vector<const LabRun*>& passing) {
  std::map<abi::ThreadKey, TraceStep> attempts = end.attempts;
  for (const auto& [thread, last] : end.last) {
    for (const LabRun* run : passing) {
      if (attempts.contains(thread)) break;
      const auto next = next_of(failing.steps[last], *run);
      if (!next || next->kind != abi::StepKind::kLock) continue;
      const auto holder = end.held.find(next->object);
      if (holder != end.held.end() && holder->second.thread != thread) attempts[thread] = *next;
    }
  }
  return attempts;
}

}  // namespace

std::vector<LockWait> lock_cycle(const LabRun& failing, const std::vector<const LabRun*>& passing) {
  const End end = end_of(failing);
  const auto attempts = attempts_of(failing, end, passing);
  for (const auto& [first, attempt] : attempts) {
    std::vector<LockWait> cycle;
    abi::ThreadKey thread = first;
    while (cycle.size() <= attempts.size()) {
      const auto waits = attempts.find(thread);
      if (waits == attempts.end()) break;
      const auto holder = end.held.find(waits->second.object);
      if (holder == end.held.end()) break;
      cycle.push_back({holder->second.taken, waits->second});
      thread = holder->second.thread;
      if (thread == first) return cycle;
    }
  }
  return {};
}

}  // namespace clew
