// Policies, priorities and processors of threads. There is one kernel thread, and the order of the
// program's threads is the scheduler's: what the program asks for is kept, checked as the kernel
// would check it, and answered, nothing else.
#ifndef CLEW_RUNTIME_THREAD_SCHEDULING_H_
#define CLEW_RUNTIME_THREAD_SCHEDULING_H_

#include <sched.h>

#include "runtime/sched/fiber.h"

namespace clew::rt {

// The thread that the sched_... functions mean; null: it is none of this program's.
Fiber* thread_of_number(pid_t number);

// All return an error number.
int change_scheduling(Fiber& fiber, int policy, int priority);
int set_affinity(Fiber& fiber, std::size_t size, const cpu_set_t* wanted);
int get_affinity(const Fiber& fiber, std::size_t size, cpu_set_t* out);

// The processor that the thread is told it runs on: the first of those that it may use.
int processor_of(const Fiber& fiber);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_THREAD_SCHEDULING_H_
