#include "host/trace/lock_steps.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace clew {
namespace {

using abi::StepKind;

class Holders {
 public:
  explicit Holders(const Trace& trace) : trace_(trace), result_(trace.steps.size()) {}

  std::vector<LockStep> follow() {
    for (std::size_t i = 0; i < trace_.steps.size(); ++i) {
      const TraceStep& step = trace_.steps[i];
      takes_what_it_waited_for(step.thread);
      if (step.kind == StepKind::kLock) lock(i);
      if (step.kind == StepKind::kUnlock) unlock(step.thread, step.object);
      // The mutex that goes with the wait is the one that was locked last.
      if (step.kind == StepKind::kWait && !held_[step.thread].empty()) {
        const std::uint64_t mutex = held_[step.thread].back();
        unlock(step.thread, mutex);
        waits_for_[step.thread] = mutex;
      }
    }
    return std::move(result_);
  }

 private:
  void lock(std::size_t i) {
    const TraceStep& step = trace_.steps[i];
    const auto holder = holder_.find(step.object);
    if (holder == holder_.end() || holder->second == step.thread) {
      result_[i] = LockStep::kObtained;
      take(step.thread, step.object);
    } else if (goes_on_before_release(i, holder->second)) {
      result_[i] = LockStep::kUnclear;
    } else {
      result_[i] = LockStep::kBlocked;
      waits_for_[step.thread] = step.object;
    }
  }

  // Whether the thread does something after step i before the holder lets go.
  bool goes_on_before_release(std::size_t i, abi::ThreadKey holder) const {
    const TraceStep& step = trace_.steps[i];
    std::size_t release = i + 1;
    for (; release < trace_.steps.size(); ++release) {
      const TraceStep& other = trace_.steps[release];
      if (other.thread == step.thread) return true;
      if (other.thread == holder &&
          (other.kind == StepKind::kWait ||
           (other.kind == StepKind::kUnlock && other.object == step.object)))
        break;
    }
    // One that is preempted could have gone on.
    return std::ranges::any_of(trace_.decisions, [&](const TraceDecision& decision) {
      return decision.thread == step.thread && decision.kind == abi::kScriptPreemption &&
             decision.own > step.own && decision.steps_before > i &&
             decision.steps_before <= release;
    });
  }

  void takes_what_it_waited_for(abi::ThreadKey thread) {
    const auto waited = waits_for_.find(thread);
    if (waited == waits_for_.end()) return;
    take(thread, waited->second);
    waits_for_.erase(waited);
  }

  void take(abi::ThreadKey thread, std::uint64_t object) {
    holder_[object] = thread;
    held_[thread].push_back(object);
  }

  void unlock(abi::ThreadKey thread, std::uint64_t object) {
    std::vector<std::uint64_t>& held = held_[thread];
    if (const auto found = std::ranges::find(held, object); found != held.end()) held.erase(found);
    const auto holder = holder_.find(object);
    // A mutex that was locked several times is free after the last unlock.
    if (holder != holder_.end() && holder->second == thread &&
        std::ranges::find(held, object) == held.end())
      holder_.erase(holder);
  }

  const Trace& trace_;
  std::vector<LockStep> result_;
  std::unordered_map<std::uint64_t, abi::ThreadKey> holder_;
  std::unordered_map<abi::ThreadKey, std::vector<std::uint64_t>> held_;
  std::unordered_map<abi::ThreadKey, std::uint64_t> waits_for_;  // a lock
};

}  // namespace

std::vector<LockStep> lock_steps(const Trace& trace) { return Holders(trace).follow(); }

}  // namespace clew
