// What a run did, step by step, as values (clew_abi/trace.h is the form in which it comes).
#ifndef CLEW_HOST_TRACE_TRACE_H_
#define CLEW_HOST_TRACE_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clew_abi/guides.h"
#include "clew_abi/trace.h"

namespace clew {

// An access, or a synchronisation.
struct TraceStep {
  abi::ThreadKey thread = 0;
  abi::Place place = 0;
  std::uint64_t object = 0;   // address accessed or synchronisation object; 0: none
  std::uint64_t clock = 0;    // the event's number
  std::uint64_t own = 0;      // its number among the events of its thread, from 1
  std::uint64_t enabled = 0;  // bit i: the thread with index i could have run, i < 64
  std::uint32_t size = 0;     // of the access; 0: not known, or none
  std::uint16_t index = 0;    // of the thread, in order of creation
  abi::StepKind kind = abi::StepKind::kOther;
  std::uint8_t flags = 0;  // abi::TraceFlags
  bool operator==(const TraceStep&) const = default;
};

// A decision of a strategy that follows (abi::TraceDecision).
struct TraceDecision {
  abi::ThreadKey thread = 0;
  abi::Place place = 0;
  abi::ThreadKey to = 0;  // who continues or is woken; 0: none
  std::uint64_t clock = 0;
  std::uint64_t own = 0;
  std::size_t steps_before = 0;  // in Trace::steps
  std::uint32_t ordinal = 0;
  abi::ScriptKind kind = abi::kScriptPreemption;
  bool operator==(const TraceDecision&) const = default;
};

struct Trace {
  std::vector<TraceStep> steps;          // in order
  std::vector<TraceDecision> decisions;  // in order
  // False: there was more. What is here is the beginning.
  bool complete = true;

  [[nodiscard]] bool empty() const { return steps.empty() && decisions.empty(); }
};

// Steps and decisions in the order in which they happened, until on_step(step) or
// on_decision(decision) returns false.
template <class OnStep, class OnDecision>
void for_each_in_order(const Trace& trace, OnStep&& on_step, OnDecision&& on_decision) {
  auto decision = trace.decisions.begin();
  for (std::size_t i = 0;; ++i) {
    for (; decision != trace.decisions.end() && decision->steps_before <= i; ++decision)
      if (!on_decision(*decision)) return;
    if (i >= trace.steps.size() || !on_step(trace.steps[i])) return;
  }
}

// The last decision before event `clock` of this kind; null: there is none.
[[nodiscard]] const TraceDecision* decision_at(const Trace& trace, std::uint64_t clock,
                                               abi::ScriptKind kind);

// The decisions of a run as a script, which gives the same run. REQUIRES: the trace is complete.
[[nodiscard]] std::vector<abi::ScriptItem> script_of(const Trace& trace);

}  // namespace clew

#endif  // CLEW_HOST_TRACE_TRACE_H_
