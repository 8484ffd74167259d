#include "runtime/sched/event_clock.h"

namespace clew::rt {
namespace {
constexpr Clock kMostHooked = Clock{1} << (CLEW_DUE_BIT - 1);
}  // namespace

void EventClock::arm(Clock attention, Looks looks) {
  live_->store(settled_, std::memory_order_relaxed);
  if (!counts_) {
    *countdown_ = uncounted_;
    return;
  }
  attention_ = attention > settled_ ? attention : settled_ + 1;
  looks_ = looks;
  const bool calls = looks == Looks::kAtEveryPoint || !window_.empty();
  hooked_ = hooks_ == Hooks::kChoose && calls ? kHooked : 0;
  Clock limit = attention_;
  if (hooked_ != 0) {
    // As many as the hooks can tell from none.
    if (limit - settled_ > kMostHooked) limit = settled_ + kMostHooked;
  } else if (looks == Looks::kAtEveryPoint) {
    limit = settled_ + 1;
  } else if (CLEW_UNLIKELY(settled_ < window_.last)) {
    const Clock next = window_.first > settled_ ? window_.first : settled_ + 1;
    if (next < limit) limit = next;
  }
  set_limit(limit);
}

bool EventClock::pass_for_listeners() {
  if (passed_for_listeners()) {
    only_listened_to_ = true;
    settle();
    return true;
  }
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
