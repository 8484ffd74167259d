#include "runtime/sched/run_queue.h"

namespace clew::rt {

void RunQueue::push(Fiber* fiber) {
  fiber->next = nullptr;
  fiber->previous = tail_;
  (tail_ != nullptr ? tail_->next : head_) = fiber;
  tail_ = fiber;
}

Fiber* RunQueue::pop() {
  Fiber* fiber = head_;
  if (fiber != nullptr) remove(fiber);
  return fiber;
}

void RunQueue::remove(Fiber* fiber) {
  (fiber->previous != nullptr ? fiber->previous->next : head_) = fiber->next;
  (fiber->next != nullptr ? fiber->next->previous : tail_) = fiber->previous;
  fiber->next = fiber->previous = nullptr;
}

}  // namespace clew::rt
