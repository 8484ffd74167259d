// What a run did, in order, for searches that learn from it (abi::TraceEvent). Only for jobs that
// ask for it. A run is the same with and without.
#ifndef CLEW_RUNTIME_RECORD_TRACE_H_
#define CLEW_RUNTIME_RECORD_TRACE_H_

#include "clew_abi/control.h"
#include "runtime/event/listener.h"

namespace clew::rt {

class Trace final : public Listener {
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

  // What it writes down of this job.
  Hearing hearing() const {
    if (room_ == 0) return {};
    if (!decisions_) return {.topics = kTopicPoints};
    return {.topics = kTopicDecisions | kTopicEvents,
            .window = {window_first_, window_last_},
            .looks = Hearing::Looks::kAtEach};
  }

  void before(const Event& event) override {
    if (!event.counted || (event.step.object == 0 && !abi::is_access(event.step.kind))) return;
    put({event.thread.key, event.step.place, event.step.object, event.clock, event.own, 0,
         event.step.size, static_cast<std::uint16_t>(event.thread.index), event.step.kind, 0});
  }

  void at(const SchedulingPoint& point) override {
    put({point.thread.key, point.step.place, point.step.object, point.clock, point.own,
         point.enabled, point.step.size, static_cast<std::uint16_t>(point.thread.index),
         point.step.kind, point.flags});
  }

  void decided(const DecisionMade& decision) override {
    const unsigned kind = decision.is_preemption ? 0 : 1 + static_cast<unsigned>(decision.kind);
    put({decision.thread.key, decision.place, decision.to.key, decision.event, decision.own_event,
         0, decision.own_ordinal, static_cast<std::uint16_t>(decision.thread.index),
         abi::StepKind::kDecision, static_cast<std::uint8_t>(kind)});
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
