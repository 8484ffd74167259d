// Policies, priorities and processors of threads (thread/scheduling.h), by system call.
#include <sys/syscall.h>

#include "runtime/syscall/families.h"
#include "runtime/thread/scheduling.h"

namespace clew::rt {

// libc's functions are not used: only the runtime knows the numbers of threads.
long scheduling_call(const Call& call) {
  Fiber* fiber = thread_of_number(static_cast<pid_t>(call.a[0]));
  if (fiber == nullptr) return recorded(call);
  const SchedulingWish& wish = fiber->scheduling;
  switch (call.number) {
    case SYS_sched_setscheduler:
      return -change_scheduling(*fiber, static_cast<int>(call.a[1]),
                                reinterpret_cast<const sched_param*>(call.a[2])->sched_priority);
    case SYS_sched_getscheduler:
      return wish.policy;
    case SYS_sched_setparam:
      return -change_scheduling(*fiber, wish.policy,
                                reinterpret_cast<const sched_param*>(call.a[1])->sched_priority);
    case SYS_sched_getparam:
      reinterpret_cast<sched_param*>(call.a[1])->sched_priority = wish.priority;
      return 0;
    case SYS_sched_setaffinity:
      return -set_affinity(*fiber, static_cast<std::size_t>(call.a[1]),
                           reinterpret_cast<const cpu_set_t*>(call.a[2]));
    default: {
      const auto room = static_cast<std::size_t>(call.a[1]);
      const std::size_t size = room < sizeof(cpu_set_t) ? room : sizeof(cpu_set_t);
      const int error = get_affinity(*fiber, size, reinterpret_cast<cpu_set_t*>(call.a[2]));
      return error != 0 ? -error : static_cast<long>(size);
    }
  }
}

}  // namespace clew::rt
