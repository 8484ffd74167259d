#include "runtime/sync/tasks.h"

#include "runtime/arena.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

// What is allocated and given back again and again.
template <class T>
struct Pool {
  T* free = nullptr;
  T* take() {
    if (free == nullptr) return arena_new<T>();
    T* taken = free;
    free = taken->next;
    *taken = T();
    return taken;
  }
  void give(T* given) {
    given->next = free;
    free = given;
  }
};

struct Successor {
  Successor* next = nullptr;
  Task* task = nullptr;     // that depends on it, or
  Task* waiting = nullptr;  // whose thread waits for it
};

struct Group {
  Group* next = nullptr;  // that it lies in
  std::uint32_t incomplete = 0;
};

}  // namespace

struct Task {
  Task* parent = nullptr;  // null: an implicit task
  TaskTeam* team = nullptr;
  Group* group = nullptr;      // innermost
  Task* last_tied = nullptr;   // of the thread that runs it
  std::uint32_t children = 0;  // incomplete ones
  std::uint32_t users = 1;     // itself and its children
  std::uint32_t depends_on = 0;
  std::uint32_t awaited = 0;  // tasks, in a wait for dependences
  Successor* successors = nullptr;
  TaskKind kind = TaskKind::kTied;
  bool begun = false;
  WaitsFor waits_for = WaitsFor::kNothing;
  TaskThread* queue = nullptr;  // that it is in
  Task* next = nullptr;         // of the queue
  Task* previous = nullptr;
  TaskThread* blocked = nullptr;  // the thread that waits in it, in the scheduler
  Task* next_blocked = nullptr;
};

struct TaskThread {
  TaskThread* next = nullptr;  // of all threads
  Task* head = nullptr;
  Task* end = nullptr;
  Task* current = nullptr;
  bool between_tasks = false;  // it has left one, and libomp has not yielded since
};

namespace {

Pool<Task> g_tasks;
Pool<Group> g_groups;
Pool<Successor> g_successors;
TaskThread* g_threads = nullptr;
Task* g_blocked = nullptr;

// Rounds in which the other threads run before a wait for dependences, and at the end of a team:
// there each needs one round, two if it is preempted.
constexpr int kPatience = 1000;
constexpr int kRoundsAtEnd = 4;

TaskThread& this_thread() {
  Fiber& fiber = *g_sched.current;
  if (fiber.tasks == nullptr) {
    fiber.tasks = arena_new<TaskThread>();
    fiber.tasks->next = g_threads;
    g_threads = fiber.tasks;
  }
  return *fiber.tasks;
}

void enqueue(Task& task, TaskThread& thread) {
  task.queue = &thread;
  task.next = nullptr;
  task.previous = thread.end;
  (thread.end != nullptr ? thread.end->next : thread.head) = &task;
  thread.end = &task;
}

void dequeue(Task& task) {
  TaskThread& thread = *task.queue;
  (task.previous != nullptr ? task.previous->next : thread.head) = task.next;
  (task.next != nullptr ? task.next->previous : thread.end) = task.previous;
  task.queue = nullptr;
}

void release(Task* task) {
  while (task != nullptr && --task->users == 0) {
    Task* parent = task->parent;
    g_tasks.give(task);
    task = parent;
  }
}

bool is_done(const Task& task) {
  switch (task.waits_for) {
    case WaitsFor::kChildren:
      return task.children == 0;
    case WaitsFor::kGroup:
      return task.group == nullptr || task.group->incomplete == 0;
    case WaitsFor::kDependences:
      return task.awaited == 0;
    case WaitsFor::kNothing:
      break;
  }
  return true;
}

// Whether the thread that waits in `waiting` may run `task`, which is queued.
bool may_run(const Task& waiting, const Task& task) {
  if (task.kind == TaskKind::kUntied) return true;
  const Task* ancestor = task.parent;
  while (ancestor != nullptr && ancestor != waiting.last_tied) ancestor = ancestor->parent;
  return ancestor != nullptr;
}

bool can_take_own(const TaskThread& thread, const Task& waiting) {
  const Task* task = thread.end;
  while (task != nullptr && task->team != waiting.team) task = task->previous;
  return task != nullptr && may_run(waiting, *task);
}

bool can_take_other(const TaskThread& thread, const Task& waiting) {
  for (const Task* task = thread.head; task != nullptr; task = task->next) {
    if (task->team != waiting.team) continue;
    if (may_run(waiting, *task)) return true;
    if (waiting.team == nullptr || !waiting.team->has_untied) return false;
  }
  return false;
}

bool can_take_any(const Task& waiting, const TaskThread& own) {
  for (const TaskThread* thread = g_threads; thread != nullptr; thread = thread->next)
    if (thread == &own ? can_take_own(*thread, waiting) : can_take_other(*thread, waiting))
      return true;
  return false;
}

void wake_those_that_can_go_on() {
  for (const Task* task = g_blocked; task != nullptr; task = task->next_blocked)
    if (is_done(*task) || can_take_any(*task, *task->blocked)) g_sched.wake_all(task);
}

void block(Task& task, TaskThread& thread) {
  task.blocked = &thread;
  task.next_blocked = g_blocked;
  g_blocked = &task;
  g_sched.block(abi::WaitKind::kTasks, &task, kForever);
  Task** link = &g_blocked;
  while (*link != &task) link = &(*link)->next_blocked;
  *link = task.next_blocked;
}

void wait_while_there_is_none(Task& task, TaskThread& thread) {
  if (g_sched.current->no_yield != 0) return;
  while (!is_done(task) && !can_take_any(task, thread)) block(task, thread);
}

void complete(Task& task, TaskThread& thread) {
  if (task.queue != nullptr) dequeue(task);
  while (Successor* successor = task.successors) {
    task.successors = successor->next;
    if (successor->waiting != nullptr)
      --successor->waiting->awaited;
    else if (--successor->task->depends_on == 0)
      enqueue(*successor->task, thread);
    g_successors.give(successor);
  }
  if (task.parent != nullptr) --task.parent->children;
  if (task.group != nullptr) --task.group->incomplete;
  release(&task);
}

void begin(Task& task, const Task* from) {
  if (task.queue != nullptr) dequeue(task);
  task.begun = true;
  task.last_tied = task.kind == TaskKind::kUntied && from != nullptr ? from->last_tied : &task;
}

}  // namespace

Task* implicit_task_begins(TaskTeam* team) {
  Task* task = g_tasks.take();
  task->team = team;
  task->begun = true;
  task->last_tied = task;
  return task;
}

void implicit_task_ends(Task* task) { release(task); }

void team_ends(Task* task) {
  if (task == nullptr || task->team == nullptr || !task->team->has_tasks ||
      g_sched.current->no_yield != 0)
    return;
  for (int i = 0; i < kRoundsAtEnd && g_sched.others_can_run(); ++i) g_sched.yield_voluntarily();
}

Task* task_created(Task* parent, TaskKind kind) {
  Task* task = g_tasks.take();
  task->kind = kind;
  if (parent != nullptr) {
    task->parent = parent;
    task->team = parent->team;
    task->group = parent->group;
    ++parent->children;
    ++parent->users;
    if (task->group != nullptr) ++task->group->incomplete;
  }
  if (kind == TaskKind::kUndeferred) return task;
  if (task->team != nullptr) {
    task->team->has_tasks = true;
    task->team->has_untied |= kind == TaskKind::kUntied;
  }
  enqueue(*task, this_thread());
  wake_those_that_can_go_on();
  return task;
}

void task_switched(Task* from, TaskSwitch why, Task* to) {
  TaskThread& thread = this_thread();
  const bool begins =
      why == TaskSwitch::kSuspended && to != nullptr && (!to->begun || to->queue != nullptr);
  if (begins) {
    begin(*to, from);
  } else if (why == TaskSwitch::kSuspended) {
    // The rest of an untied task goes back into a queue.
    if (from != nullptr && from->kind == TaskKind::kUntied) enqueue(*from, thread);
  } else if (why != TaskSwitch::kLeft && from != nullptr) {
    complete(*from, thread);
  }
  if (why != TaskSwitch::kCompleted) {
    thread.current = to;
    thread.between_tasks = !begins;
  }
  wake_those_that_can_go_on();
}

void task_depends(Task* on, Task* task) {
  Task* waiting = task == nullptr ? this_thread().current : nullptr;
  if (waiting != nullptr && waiting->waits_for != WaitsFor::kDependences) waiting = nullptr;
  if (on == nullptr || (task == nullptr && waiting == nullptr)) return;
  if (task != nullptr) {
    ++task->depends_on;
    if (task->queue != nullptr) dequeue(*task);
  } else {
    ++waiting->awaited;
  }
  Successor* successor = g_successors.take();
  successor->task = task;
  successor->waiting = waiting;
  successor->next = on->successors;
  on->successors = successor;
}

void task_group_begins(Task* task) {
  if (task == nullptr) return;
  Group* group = g_groups.take();
  group->next = task->group;
  task->group = group;
}

void task_group_ends(Task* task) {
  if (task == nullptr || task->group == nullptr) return;
  Group* group = task->group;
  task->group = group->next;
  g_groups.give(group);
}

void wait_for_tasks_begins(Task* task, WaitsFor what) {
  if (task == nullptr) return;
  TaskThread& thread = this_thread();
  thread.current = task;
  task->waits_for = what;
  wait_while_there_is_none(*task, thread);
}

void wait_for_dependences_begins(Task* task) {
  if (task == nullptr) return;
  TaskThread& thread = this_thread();
  thread.current = task;
  task->waits_for = WaitsFor::kDependences;
  task->awaited = 0;
  if (g_sched.current->no_yield != 0) return;
  for (int i = 0; i < kPatience && task->children != 0 && !can_take_any(*task, thread) &&
                  g_sched.others_can_run();
       ++i)
    g_sched.yield_voluntarily();
}

void wait_for_tasks_ends(Task* task) {
  if (task != nullptr) task->waits_for = WaitsFor::kNothing;
}

void wait_for_dependences_ends() { wait_for_tasks_ends(this_thread().current); }

void wait_between_tasks_slow(Fiber& fiber) {
  TaskThread& thread = *fiber.tasks;
  if (!thread.between_tasks) return;
  thread.between_tasks = false;
  if (thread.current != nullptr) wait_while_there_is_none(*thread.current, thread);
}

}  // namespace clew::rt
