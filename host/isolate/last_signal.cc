#include "host/isolate/last_signal.h"

#include <string>
#include <unordered_set>

namespace clew {
namespace {

// The threads whose last step before the signal is to wait for its object.
std::unordered_set<abi::ThreadKey> waiting_at(const Trace& trace, const TraceStep& signal) {
  std::unordered_set<abi::ThreadKey> waiting;
  for (const TraceStep& step : trace.steps) {
    if (step.clock >= signal.clock) break;
    if (step.kind == abi::StepKind::kWait && step.object == signal.object)
      waiting.insert(step.thread);
    else
      waiting.erase(step.thread);
  }
  return waiting;
}

void tell_signal(WaitInfo& wait, SourceView& view, const Trace& trace) {
  const TraceStep* waited = nullptr;
  const TraceStep* signal = nullptr;
  for (const TraceStep& step : trace.steps) {
    if (step.object != wait.object) continue;
    if (step.kind == abi::StepKind::kSignal) signal = &step;
    if (step.kind == abi::StepKind::kWait && view.thread(step.thread) == wait.thread)
      waited = &step;
  }
  if (waited == nullptr) return;
  using Signalled = WaitInfo::Signalled;
  wait.signalled = signal == nullptr               ? Signalled::kNever
                   : signal->clock < waited->clock ? Signalled::kBefore
                                                   : Signalled::kDuring;
  if (signal == nullptr) return;
  wait.signal = view.event(*signal);
  if (wait.signalled == Signalled::kBefore) return;
  // It woke one of those that waited, and not this one.
  std::unordered_set<abi::ThreadKey> others = waiting_at(trace, *signal);
  others.erase(waited->thread);
  if (others.size() == 1) wait.woken = view.thread(*others.begin());
}

}  // namespace

void tell_signals(std::vector<WaitInfo>& waits, SourceView& view, const Trace& trace) {
  for (WaitInfo& wait : waits)
    if (wait.kind == abi::WaitKind::kCondition && wait.object != 0) tell_signal(wait, view, trace);
}

}  // namespace clew
