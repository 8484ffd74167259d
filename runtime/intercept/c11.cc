// <threads.h>. glibc's mtx_t, cnd_t, once_flag and thrd_t are its pthread types by another name;
// initialising and destroying them, thrd_current and thrd_equal stay its own.
#include <threads.h>

#include "runtime/intercept/call.h"
#include "runtime/intercept/thread.h"
#include "runtime/snapshot/server.h"
#include "runtime/sync/models.h"

using namespace clew::rt;
using clew::abi::StepKind;

namespace {

int to_thrd(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* of(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* of(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }
static_assert(sizeof(mtx_t) <= sizeof(pthread_mutex_t) && sizeof(cnd_t) <= sizeof(pthread_cond_t));

// The start routine's int goes through the thread's result, as in glibc.
void* to_result(int value) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(value)); }

}  // namespace

CLEW_INTERPOSE int thrd_create(thrd_t* out, thrd_start_t routine, void* argument) {
  if (g_sched.active) reach_first_thread();
  CLEW_ENTER_WITH((Intent{StepKind::kCreate, out}), thrd_create, out, routine, argument);
  // A function that returns int leaves it where one that returns a pointer would: see thrd_join.
  auto* start = reinterpret_cast<void* (*)(void*)>(reinterpret_cast<void*>(routine));
  return to_thrd(answer(create_thread(out, nullptr, start, argument)));
}

CLEW_INTERPOSE int thrd_join(thrd_t thread, int* result) {
  CLEW_ENTER_WITH((Intent{StepKind::kJoin, thread_object(thread), has_ended}), thrd_join, thread,
                  result);
  void* value = nullptr;
  const int error = join_thread(thread, &value, kForever);
  if (result != nullptr && error == 0)
    *result = static_cast<int>(reinterpret_cast<std::uintptr_t>(value));
  return to_thrd(answer(error));
}

CLEW_INTERPOSE int thrd_detach(thrd_t thread) {
  CLEW_ENTER_WITH((Intent{StepKind::kOther, nullptr}), thrd_detach, thread);
  return to_thrd(answer(detach_thread(thread)));
}

CLEW_EXPORT void thrd_exit(int result) {
  if (!g_sched.active) {
    CLEW_REAL(thrd_exit)(result);
    __builtin_unreachable();
  }
  enter(operation("thrd_exit"), CLEW_CALLER);
  g_sched.current->result = to_result(result);
  unwind_thread();
}

CLEW_INTERPOSE int thrd_sleep(const timespec* length, timespec* rest) {
  if (!g_sched.active) return CLEW_REAL(thrd_sleep)(length, rest);
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, length, rest);
  return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

CLEW_INTERPOSE void thrd_yield() { sched_yield(); }

CLEW_INTERPOSE int mtx_lock(mtx_t* mutex) {
  CLEW_ENTER_WITH((Intent{StepKind::kLock, mutex, mutex_can_be_taken}), mtx_lock, mutex);
  return to_thrd(answer(mutex_lock(of(mutex), kForever, CLEW_CALLER)));
}

CLEW_INTERPOSE int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  CLEW_ENTER_WITH((Intent{StepKind::kLock, mutex}), mtx_timedlock, mutex,
                  ForKernel(CLOCK_REALTIME, until));
  return to_thrd(answer(mutex_lock(of(mutex), deadline_of(CLOCK_REALTIME, until), CLEW_CALLER)));
}

CLEW_INTERPOSE int mtx_trylock(mtx_t* mutex) {
  CLEW_ENTER_WITH((Intent{StepKind::kUpdate, mutex}), mtx_trylock, mutex);
  return to_thrd(answer(mutex_trylock(of(mutex), CLEW_CALLER)));
}

CLEW_INTERPOSE int mtx_unlock(mtx_t* mutex) {
  CLEW_ENTER_WITH((Intent{StepKind::kUnlock, mutex}), mtx_unlock, mutex);
  return to_thrd(answer(mutex_unlock(of(mutex))));
}

CLEW_INTERPOSE int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  CLEW_ENTER_WITH((Intent{StepKind::kWait, condition}), cnd_wait, condition, mutex);
  return to_thrd(answer(cond_wait(of(condition), of(mutex), kForever, CLEW_CALLER)));
}

CLEW_INTERPOSE int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  CLEW_ENTER_WITH((Intent{StepKind::kWait, condition}), cnd_timedwait, condition, mutex,
                  ForKernel(cond_clock(of(condition)), until));
  const Nanos deadline = deadline_of(cond_clock(of(condition)), until);
  return to_thrd(answer(cond_wait(of(condition), of(mutex), deadline, CLEW_CALLER)));
}

CLEW_INTERPOSE int cnd_signal(cnd_t* condition) {
  CLEW_ENTER_WITH((Intent{StepKind::kSignal, condition}), cnd_signal, condition);
  return to_thrd(answer(cond_signal(of(condition))));
}

CLEW_INTERPOSE int cnd_broadcast(cnd_t* condition) {
  CLEW_ENTER_WITH((Intent{StepKind::kSignal, condition}), cnd_broadcast, condition);
  return to_thrd(answer(cond_broadcast(of(condition))));
}

CLEW_INTERPOSE void cnd_destroy(cnd_t* condition) {
  CLEW_ENTER_WITH(destroys(of(condition)), cnd_destroy, condition);
  cond_destroy(of(condition));
}

CLEW_INTERPOSE void mtx_destroy(mtx_t* mutex) {
  CLEW_ENTER_WITH(destroys(of(mutex)), mtx_destroy, mutex);
  mutex_destroy(of(mutex));
}

CLEW_EXPORT void call_once(once_flag* flag, void (*routine)(void)) {
  CLEW_ENTER_WITH((Intent{StepKind::kWait, flag}), call_once, flag, routine);
  run_once(&flag->__data, routine, CLEW_CALLER);
}

CLEW_INTERPOSE int tss_create(tss_t* key, tss_dtor_t destructor) {
  return to_thrd(create_key(key, destructor));
}

CLEW_INTERPOSE void tss_delete(tss_t key) { delete_key(key); }
