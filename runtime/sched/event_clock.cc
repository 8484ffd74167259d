#include "runtime/sched/event_clock.h"

namespace clew::rt {

void EventClock::arm(Clock attention, Looks looks) {
  live_->store(settled_, std::memory_order_relaxed);
  if (!counts_) {
    *countdown_ = uncounted_;
    return;
  }
  attention_ = attention > settled_ ? attention : settled_ + 1;
  looks_ = looks;
  Clock limit = looks == Looks::kAtEveryPoint ? settled_ + 1 : attention_;
  if (CLEW_UNLIKELY(settled_ < window_.last)) {
    const Clock next = window_.first > settled_ ? window_.first : settled_ + 1;
    if (next < limit) limit = next;
  }
  set_limit(limit);
}

bool EventClock::pass_for_listeners() {
  if (CLEW_LIKELY(limit_ >= attention_) || looks_ == Looks::kAtEveryPoint) return false;
  only_listened_to_ = true;
  settled_ = limit_;
  set_limit(settled_ < window_.last ? settled_ + 1 : attention_);
  return true;
}

void EventClock::bring_forward(Clock event) {
  if (event < attention_) attention_ = event;
  set_limit(event < limit_ ? event : limit_);
}

}  // namespace clew::rt
