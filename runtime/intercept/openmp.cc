// OpenMP's interface for tools (OpenMP 5.2, chapter 19), with which libomp tells what becomes of
// tasks and locks. Declared here as far as it is used: the header belongs to a compiler that need
// not be there.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/intercept/call.h"
#include "runtime/signal/stuck.h"
#include "runtime/sync/openmp_locks.h"
#include "runtime/sync/tasks.h"

using namespace clew::rt;
using clew::abi::StepKind;

namespace {

// A word of libomp's for each parallel region and task, ours to use.
struct Data {
  void* pointer;
};
using Function = void (*)();
struct Tool {
  int (*initialize)(Function (*lookup)(const char*), int, Data*);
  void (*finalize)(Data*);
  Data data;
};
using StartTool = Tool* (*)(unsigned, const char*);

enum Event {
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kSyncRegionWait = 16,
  kMutexReleased = 17,
  kTaskDependence = 19,
  kSyncRegion = 23,
  kMutexAcquire = 26,
  kMutexAcquired = 27,
  kReduction = 31,
};
constexpr int kScopeBegin = 1;
constexpr int kScopeEnd = 2;
constexpr int kTaskWait = 5;
constexpr int kTaskGroup = 6;
constexpr unsigned kFlagTaskWait = 0x10;
constexpr unsigned kFlagUndeferred = 0x0800'0000;
constexpr unsigned kFlagUntied = 0x1000'0000;
enum Status {
  kComplete = 1,
  kCancel = 3,
  kDetach = 4,
  kEarlyFulfill = 5,
  kLateFulfill = 6,
  kTaskWaitComplete = 8,
};

enum Mutex { kTestLock = 2, kNestLock = 3, kTestNestLock = 4, kOrdered = 7 };

Task* task_of(const Data* data) {
  return data != nullptr ? static_cast<Task*>(data->pointer) : nullptr;
}

// What libomp orders by means of its own: the members of a team at its beginning, its barriers and its
// end, and tasks. A task is taken to be ordered after all that ended or were created before it began,
// which is more than libomp guarantees.
void releases(const void* object) {
  if (object != nullptr) g_sched.announce_sync(Synchronised::Kind::kReleases, object);
}
void acquires(const void* object) {
  if (object != nullptr) g_sched.announce_sync(Synchronised::Kind::kAcquires, object);
}
char g_tasks_order;

void on_parallel_begin(Data*, const void*, Data* parallel, unsigned, int, const void*) {
  if (g_sched.active) releases(parallel);
}

void on_parallel_end(Data* parallel, Data*, int, const void*) {
  if (g_sched.active) acquires(parallel);
}

void on_reduction(int, int endpoint, Data* parallel, Data*, const void*) {
  if (!g_sched.active) return;
  endpoint == kScopeBegin ? acquires(parallel) : releases(parallel);
}

void on_implicit_task(int endpoint, Data* parallel, Data* data, unsigned, unsigned index, int) {
  if (!g_sched.active || data == nullptr) return;
  endpoint == kScopeBegin ? acquires(parallel) : releases(parallel);
  if (endpoint == kScopeBegin) {
    data->pointer = implicit_task_begins(reinterpret_cast<TaskTeam*>(parallel));
    return;
  }
  if (index == 0) team_ends(task_of(data));
  implicit_task_ends(task_of(data));
  data->pointer = nullptr;
}

// A wait for dependences comes as a task too. libomp has one word for all of those of a thread, and
// wants it to be zero.
void on_task_create(Data* parent, const void*, Data* data, int flags, int, const void* caller) {
  if (!g_sched.active) return;
  releases(&g_tasks_order);
  const auto bits = static_cast<unsigned>(flags);
  if ((bits & kFlagTaskWait) != 0) {
    enter(operation("omp taskwait depend"), caller);
    return wait_for_dependences_begins(task_of(parent));
  }
  const TaskKind kind = (bits & kFlagUndeferred) != 0 ? TaskKind::kUndeferred
                        : (bits & kFlagUntied) != 0   ? TaskKind::kUntied
                                                      : TaskKind::kTied;
  data->pointer = task_created(task_of(parent), kind);
}

void on_task_schedule(Data* from, int status, Data* to) {
  if (!g_sched.active || status == kEarlyFulfill) return;
  releases(&g_tasks_order);
  acquires(&g_tasks_order);
  if (status == kTaskWaitComplete) return wait_for_dependences_ends();
  const TaskSwitch why = status == kComplete || status == kCancel ? TaskSwitch::kEnded
                         : status == kDetach                      ? TaskSwitch::kLeft
                         : status == kLateFulfill                 ? TaskSwitch::kCompleted
                                                                  : TaskSwitch::kSuspended;
  task_switched(task_of(from), why, task_of(to));
}

void on_task_dependence(Data* on, Data* task) {
  if (g_sched.active) task_depends(task_of(on), task_of(task));
}

void on_sync_region(int kind, int endpoint, Data* parallel, Data* data, const void*) {
  if (!g_sched.active) return;
  const bool waits_for_tasks = kind == kTaskWait || kind == kTaskGroup;
  const void* const object = waits_for_tasks ? static_cast<const void*>(&g_tasks_order) : parallel;
  endpoint == kScopeBegin ? releases(object) : acquires(object);
  if (kind != kTaskGroup) return;
  if (endpoint == kScopeBegin) task_group_begins(task_of(data));
  if (endpoint == kScopeEnd) task_group_ends(task_of(data));
}

void on_sync_region_wait(int kind, int endpoint, Data*, Data* data, const void* caller) {
  if (!g_sched.active || (kind != kTaskWait && kind != kTaskGroup)) return;
  if (endpoint == kScopeEnd) return wait_for_tasks_ends(task_of(data));
  enter(kind == kTaskWait ? operation("omp taskwait") : operation("omp taskgroup"), caller);
  wait_for_tasks_begins(task_of(data), kind == kTaskWait ? WaitsFor::kChildren : WaitsFor::kGroup);
}

// The order of turns in an ordered region is not a lock.
bool is_lock(int kind) { return kind != kOrdered; }

// Before libomp takes the lock, and after it has let it go: what happens in between is one step.
void on_mutex_acquire(int kind, unsigned, unsigned, const void* lock, const void* caller) {
  if (!g_sched.active || !is_lock(kind)) return;
  const bool tests = kind == kTestLock || kind == kTestNestLock;
  enter(tests ? operation("omp test lock") : operation("omp set lock"), caller,
        {tests ? StepKind::kUpdate : StepKind::kLock, lock, tests ? nullptr : openmp_lock_is_free});
  if (tests) return;
  wait_for_openmp_lock(lock, kind == kNestLock ? OpenMpLocking::kNested : OpenMpLocking::kOnce);
}

void on_mutex_acquired(int kind, const void* lock, const void* caller) {
  if (g_sched.active && is_lock(kind)) openmp_lock_taken(lock, caller);
}

void on_mutex_released(int kind, const void* lock, const void* caller) {
  if (!g_sched.active || !is_lock(kind)) return;
  enter(operation("omp unset lock"), caller, {StepKind::kUnlock, lock});
  openmp_lock_released(lock);
}

template <class F>
void tell(Function set, Event event, F* callback) {
  reinterpret_cast<int (*)(int, Function)>(set)(event, reinterpret_cast<Function>(callback));
}

int initialize(Function (*lookup)(const char*), int, Data*) {
  const Function set = lookup("ompt_set_callback");
  if (set == nullptr) return 0;
  tell(set, kParallelBegin, on_parallel_begin);
  tell(set, kParallelEnd, on_parallel_end);
  tell(set, kReduction, on_reduction);
  tell(set, kImplicitTask, on_implicit_task);
  tell(set, kTaskCreate, on_task_create);
  tell(set, kTaskSchedule, on_task_schedule);
  tell(set, kTaskDependence, on_task_dependence);
  tell(set, kSyncRegion, on_sync_region);
  tell(set, kSyncRegionWait, on_sync_region_wait);
  tell(set, kMutexAcquire, on_mutex_acquire);
  tell(set, kMutexAcquired, on_mutex_acquired);
  tell(set, kMutexReleased, on_mutex_released);
  return 1;
}

void finalize(Data*) {}

Tool g_tool = {initialize, finalize, {nullptr}};

// With these the user asks for another tool, or for queues that sync/tasks.h does not know.
bool is_set_up_otherwise() {
  for (const char* name : {"OMP_TOOL_LIBRARIES", "OMP_MAX_TASK_PRIORITY",
                           "KMP_TASK_STEALING_CONSTRAINT", "KMP_TASKING", "KMP_LIBRARY"})
    if (getenv(name) != nullptr) return true;
  return false;
}

}  // namespace

// A tool of the program's own goes first. A libomp that is built with clew needs none: its loops
// have points, and may be left in the middle of what sync/tasks.h takes for one step.
CLEW_EXPORT Tool* ompt_start_tool(unsigned version, const char* runtime) {
  const auto next = reinterpret_cast<StartTool>(dlsym(RTLD_NEXT, "ompt_start_tool"));
  Tool* others = next != nullptr ? next(version, runtime) : nullptr;
  if (others != nullptr || !g_sched.active || is_set_up_otherwise()) return others;
  const bool is_known = runtime != nullptr && strncmp(runtime, "LLVM", 4) == 0;
  return is_known && is_without_points(CLEW_CALLER) ? &g_tool : nullptr;
}
