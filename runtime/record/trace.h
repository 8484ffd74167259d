// The scheduling points of a run in the order in which they were passed, for searches that learn
// from them (abi::TraceEvent). Only for jobs that ask for it.
#ifndef CLEW_RUNTIME_RECORD_TRACE_H_
#define CLEW_RUNTIME_RECORD_TRACE_H_

#include "clew_abi/control.h"
#include "runtime/strategy/strategy.h"

namespace clew::rt {

class Trace {
 public:
  void begin(abi::Control& control, const abi::Job& job) {
    const std::uint64_t room = control.trace.size / sizeof(abi::TraceEvent);
    first_ = control.trace_count;
    count_ = 0;
    overflow_ = false;
    room_ = (job.flags & abi::kJobTrace) != 0 && room > first_ ? room - first_ : 0;
    events_ = reinterpret_cast<abi::TraceEvent*>(reinterpret_cast<std::uint8_t*>(&control) +
                                                 control.trace.offset) +
              first_;
  }

  void add(const Candidate& thread, Clock clock, std::uint64_t enabled, std::uint8_t flags) {
    if (CLEW_LIKELY(room_ == 0)) return;
    if (count_ == room_) {
      overflow_ = true;
      return;
    }
    events_[count_++] = {thread.key,
                         thread.step.place,
                         thread.step.object,
                         clock,
                         enabled,
                         thread.step.size,
                         static_cast<std::uint16_t>(thread.index),
                         thread.step.kind,
                         flags};
  }

  std::uint64_t first() const { return first_; }
  // 0 if it did not fit.
  std::uint64_t count() const { return overflow_ ? 0 : count_; }

 private:
  abi::TraceEvent* events_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t room_ = 0;
  bool overflow_ = false;
};

extern Trace g_trace;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_TRACE_H_
