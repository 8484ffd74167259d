// Changing whether clew is in charge of the process (Scheduler::active).
#ifndef CLEW_RUNTIME_SCHED_ACTIVE_H_
#define CLEW_RUNTIME_SCHED_ACTIVE_H_

#include "runtime/fiber/own_stack.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {

// While it lives, interposed functions go straight to libc: what libraries call on the runtime's
// behalf is no event of the program's.
class OffDuty {
 public:
  OffDuty() : before_(g_sched.active) { g_sched.active = false; }
  ~OffDuty() { g_sched.active = before_; }
  OffDuty(const OffDuty&) = delete;
  OffDuty& operator=(const OffDuty&) = delete;

 private:
  bool before_;
};

// The same for good: the running thread stays on the program's stack from now on.
inline void leave_duty() {
  g_sched.active = false;
  clew_own_top = 0;
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_ACTIVE_H_
