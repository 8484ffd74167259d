// What a run did, in order, for searches that learn from it (abi::TraceEvent). Only for jobs that
// ask for it. A run is the same with and without.
#ifndef CLEW_RUNTIME_RECORD_TRACE_H_
#define CLEW_RUNTIME_RECORD_TRACE_H_

#include "clew_abi/control.h"
#include "runtime/sched/fiber.h"
#include "runtime/strategy/strategy.h"

namespace clew::rt {

class Trace {
 public:
  enum class Decisions : std::uint8_t { kLeftOut, kTraced };

  void begin(abi::Control& control, const abi::Job& job, Decisions decisions) {
    const std::uint64_t room = control.trace.size / sizeof(abi::TraceEvent);
    first_ = control.trace_count;
    count_ = 0;
    overflow_ = false;
    room_ = (job.flags & abi::kJobTrace) != 0 && room > first_ ? room - first_ : 0;
    events_ = reinterpret_cast<abi::TraceEvent*>(reinterpret_cast<std::uint8_t*>(&control) +
                                                 control.trace.offset) +
              first_;
    decisions_ = room_ != 0 && decisions == Decisions::kTraced;
    const bool window = decisions_ && job.parameters[2] <= job.parameters[3];
    window_first_ = window ? job.parameters[2] : kNever;
    window_last_ = window ? job.parameters[3] : 0;
  }

  // The events of a strategy that follows whose steps are wanted.
  Clock window_first() const { return window_first_; }
  Clock window_last() const { return window_last_; }
  bool wants_step(Clock event) const { return event <= window_last_ && event >= window_first_; }
  bool wants_decisions() const { return decisions_; }

  void add(const Candidate& thread, Clock clock, std::uint64_t own, std::uint64_t enabled,
           std::uint8_t flags) {
    if (CLEW_LIKELY(room_ == 0)) return;
    put({thread.key, thread.step.place, thread.step.object, clock, own, enabled, thread.step.size,
         static_cast<std::uint16_t>(thread.index), thread.step.kind, flags});
  }

  // `kind`: as in a script. `to`: 0, none.
  void decision(const Fiber& thread, const Question& where, std::uint8_t kind, abi::ThreadKey to) {
    put({thread.key, thread.place, to, where.event, where.own_event, 0, where.own_ordinal,
         static_cast<std::uint16_t>(thread.index), abi::StepKind::kDecision, kind});
  }

  std::uint64_t first() const { return first_; }
  // 0 if it did not fit.
  std::uint64_t count() const { return overflow_ ? 0 : count_; }

 private:
  void put(const abi::TraceEvent& event) {
    if (count_ == room_) {
      overflow_ = true;
      return;
    }
    events_[count_++] = event;
  }

  abi::TraceEvent* events_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t room_ = 0;
  bool overflow_ = false;
  bool decisions_ = false;
  Clock window_first_ = kNever;
  Clock window_last_ = 0;
};

extern Trace g_trace;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_TRACE_H_
