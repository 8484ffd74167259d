// Threads that can run and do not, the longest ready first.
#ifndef CLEW_RUNTIME_SCHED_RUN_QUEUE_H_
#define CLEW_RUNTIME_SCHED_RUN_QUEUE_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

class RunQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  Fiber* head() const { return head_; }
  bool has(const Fiber* fiber) const {
    for (const Fiber* f = head_; f != nullptr; f = f->next)
      if (f == fiber) return true;
    return false;
  }
  void push(Fiber* fiber);
  Fiber* pop();  // null: it is empty
  void remove(Fiber* fiber);

 private:
  Fiber* head_ = nullptr;
  Fiber* tail_ = nullptr;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_RUN_QUEUE_H_
