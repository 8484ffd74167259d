// The tasks of an OpenMP program, as libomp tells of them (intercept/openmp.cc).
//
// A thread that waits for tasks runs others in the meantime, and when libomp finds none that it may
// run, it looks again, in a loop without any call. Here it is known when there are none: the thread
// then waits in the scheduler, until what it waits for is done or there is a task that it may run.
//
// What libomp does, as far as it matters here. Each thread has a queue for each team. A task is put
// at the end of the queue of the thread that creates it or that ends the last task it depends on. A
// thread that waits takes from the end of its own queue and from the head of the others', and a
// tied task only if it descends from the last tied task that the thread has begun. libomp is not
// built with clew: from one call that it makes to the next nothing else runs.
#ifndef CLEW_RUNTIME_SYNC_TASKS_H_
#define CLEW_RUNTIME_SYNC_TASKS_H_

#include "runtime/sched/fiber.h"

namespace clew::rt {

struct Task;

enum class WaitsFor : std::uint8_t { kNothing, kChildren, kGroup, kDependences };
enum class TaskKind : std::uint8_t {
  kTied,
  kUntied,
  kUndeferred,  // never queued
};
enum class TaskSwitch : std::uint8_t {
  kEnded,      // the task that ran is complete
  kLeft,       // it ran to its end, but completes later
  kCompleted,  // one that was left, by whoever
  kSuspended,
};

// What is known of a team. In a word that libomp keeps for it, zero at first.
struct TaskTeam {
  bool has_tasks;
  bool has_untied;  // libomp looks at more than the heads of queues
};

// A task may be null, except for the results of these two: nothing is known of it.
Task* implicit_task_begins(TaskTeam* team);
Task* task_created(Task* parent, TaskKind kind);
void implicit_task_ends(Task* task);
// The team's first thread has passed its last barrier. When it gives up the team or ends the
// program, it polls in a loop until the others have noticed that there are no more tasks.
void team_ends(Task* task);

// The running thread switches from one task to another.
void task_switched(Task* from, TaskSwitch why, Task* to);
// If `task` is null, the wait for dependences of the running thread depends on it.
void task_depends(Task* on, Task* task);

void task_group_begins(Task* task);
void task_group_ends(Task* task);

// The running thread, in `task`, is about to wait for other tasks.
void wait_for_tasks_begins(Task* task, WaitsFor what);
// The running thread, in `task`, is about to wait for dependences, of which nothing is known yet.
void wait_for_dependences_begins(Task* task);
void wait_for_tasks_ends(Task* task);
void wait_for_dependences_ends();

// The slow half of the next.
void wait_between_tasks_slow(Fiber& fiber);
// libomp yields between two tasks that it runs in a wait.
inline void wait_between_tasks(Fiber& fiber) {
  if (CLEW_UNLIKELY(fiber.tasks != nullptr)) wait_between_tasks_slow(fiber);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYNC_TASKS_H_
