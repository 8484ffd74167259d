// What the steps of a trace need before they can be executed.
#include <algorithm>

#include "host/enumerate/rearrangement.h"
#include "host/enumerate/resumptions.h"

namespace clew {
namespace {

using abi::StepKind;

constexpr std::uint32_t kEnabledBits = 64;

}  // namespace

TraceModel::TraceModel(std::span<const TraceStep> trace)
    : trace_(trace), resumes_(resumptions(trace)) {
  std::uint32_t width = 0;
  for (const TraceStep& step : trace) width = std::max(width, step.index + 1u);
  steps_.resize(width);
  created_by_.resize(width, kInitialValue);
  awaited_.resize(trace.size(), kInitialValue);
  arrives_last_.resize(trace.size());
  std::uint32_t creations = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> named;
  for (StepNumber i = 0; i < trace.size(); ++i) {
    const TraceStep& step = trace[i];
    number_.push_back(static_cast<std::uint32_t>(steps_[step.index].size()));
    steps_[step.index].push_back(i);
    if (step.kind == StepKind::kWait && !resumes_[i]) syncs_[step.object].waits.push_back(i);
    if (step.kind == StepKind::kSignal) syncs_[step.object].signals.push_back(i);
    if (step.kind != StepKind::kCreate) continue;
    const std::uint32_t child = ++creations;
    named[step.object] = child;
    if (child >= width) continue;
    children_[i] = child;
    created_by_[child] = i;
  }
  for (const std::vector<StepNumber>& steps : steps_) {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const TraceStep& step = trace[steps[k]];
      const bool is_last = k + 1 == steps.size();
      if (step.kind == StepKind::kWait && !resumes_[steps[k]] && !is_last)
        find_awaited(steps[k], steps[k + 1]);
      if (step.kind != StepKind::kJoin) continue;
      std::uint32_t child = width;
      if (const auto found = named.find(step.object); found != named.end())
        child = found->second;
      else if (step.object < width)
        child = static_cast<std::uint32_t>(step.object);
      if (child >= width || steps_[child].empty()) continue;
      const StepNumber end = steps_[child].back();
      if (end < steps[k]) {
        needed_[steps[k]] = end;
      } else if (!is_last && end < steps[k + 1]) {
        awaited_[steps[k]] = end;
      }
    }
  }
}

// Who could run shows when the waiting thread was woken. Beyond the threads that are noted: right
// before its next step.
void TraceModel::find_awaited(StepNumber step, StepNumber next) {
  const TraceStep& wait = trace_[step];
  const TraceStep& after = trace_[next];
  if (after.kind == StepKind::kLock) {
    // A condition variable: what it takes again it has given back.
    int held = 0;
    for (std::uint32_t k = number_[step]; k-- > 0;) {
      const TraceStep& before = trace_[steps_[wait.index][k]];
      if (before.object != after.object) continue;
      if (before.kind == StepKind::kLock) held = 1;
      if (before.kind == StepKind::kLock || before.kind == StepKind::kUnlock) break;
    }
    if (held != 0) given_back_[step] = after.object;
  }
  if (wait.index >= kEnabledBits) {
    awaited_[step] = next > 0 && next - 1 > step ? next - 1 : kInitialValue;
    return;
  }
  const std::uint64_t bit = std::uint64_t{1} << wait.index;
  bool blocked = false;
  for (StepNumber i = step + 1; i <= next; ++i) {
    const bool enabled = (trace_[i].enabled & bit) != 0;
    if (!enabled) blocked = true;
    if (blocked && enabled) {
      awaited_[step] = i - 1;
      return;
    }
  }
  arrives_last_[step] = !blocked && syncs_[wait.object].signals.empty();
  // One that is over before another thread has made a step.
  if (resumes_[next] && awaited_[step] == kInitialValue && next > step + 1)
    awaited_[step] = next - 1;
}

std::uint32_t TraceModel::child_of(StepNumber create) const {
  const auto found = children_.find(create);
  return found == children_.end() ? threads() : found->second;
}

std::uint64_t TraceModel::gives_back(StepNumber wait) const {
  const auto found = given_back_.find(wait);
  return found == given_back_.end() ? 0 : found->second;
}

std::vector<StepNumber> TraceModel::locks_around(StepNumber step) const {
  std::vector<StepNumber> held;
  const std::vector<StepNumber>& steps = steps_[trace_[step].index];
  for (std::uint32_t k = 0; k < number_[step]; ++k) {
    const TraceStep& before = trace_[steps[k]];
    if (before.kind == StepKind::kLock) held.push_back(steps[k]);
    if (before.kind == StepKind::kUnlock) {
      const auto found = std::ranges::find(held.rbegin(), held.rend(), before.object,
                                           [&](StepNumber s) { return trace_[s].object; });
      if (found != held.rend()) held.erase(std::next(found).base());
    }
  }
  return held;
}

}  // namespace clew
