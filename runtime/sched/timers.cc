#include "runtime/sched/timers.h"

namespace clew::rt {

void Timers::arm(Timer& timer, Nanos deadline) {
  disarm(timer);
  timer.deadline = deadline;
  Timer** slot = &first_;
  while (*slot != nullptr && (*slot)->deadline <= deadline) slot = &(*slot)->next;
  timer.next = *slot;
  *slot = &timer;
}

void Timers::disarm(Timer& timer) {
  if (timer.deadline == kForever) return;
  timer.deadline = kForever;
  for (Timer** slot = &first_; *slot != nullptr; slot = &(*slot)->next) {
    if (*slot != &timer) continue;
    *slot = timer.next;
    return;
  }
}

Timer* Timers::take_due(Nanos now) {
  if (first_ == nullptr || first_->deadline > now) return nullptr;
  Timer* timer = first_;
  first_ = timer->next;
  timer->deadline = kForever;
  return timer;
}

}  // namespace clew::rt
