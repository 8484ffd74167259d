// What is due at a time of the virtual clock.
#ifndef CLEW_RUNTIME_SCHED_TIMERS_H_
#define CLEW_RUNTIME_SCHED_TIMERS_H_

#include "runtime/rt.h"

namespace clew::rt {

struct Timer {
  Nanos deadline = kForever;  // kForever: not armed
  Timer* next = nullptr;
  void (*fire)(Timer&) = nullptr;  // it is no longer armed then; may arm it again
};

// Those that are armed, by deadline; those of one deadline in the order in which they were armed.
class Timers {
 public:
  void arm(Timer& timer, Nanos deadline);
  void disarm(Timer& timer);
  bool empty() const { return first_ == nullptr; }
  Nanos next_deadline() const { return first_ != nullptr ? first_->deadline : kForever; }
  // Takes the next one that is due by `now` off the list; null: there is none.
  Timer* take_due(Nanos now);

 private:
  Timer* first_ = nullptr;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_TIMERS_H_
