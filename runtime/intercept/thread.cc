// Creation, joining and ending of threads.
#include "runtime/intercept/thread.h"

#include <string.h>

#include "runtime/intercept/call.h"
#include "runtime/intercept/init.h"
#include "runtime/intercept/thread_block.h"
#include "runtime/record/end.h"
#include "runtime/snapshot/server.h"
#include "runtime/sync/models.h"

using namespace clew::rt;

namespace {

// What a step names a thread by: its index. Null: there is no such thread.
void* thread_object(pthread_t handle) {
  const Fiber* fiber = g_sched.active ? g_sched.find(handle) : nullptr;
  return fiber != nullptr ? reinterpret_cast<void*>(std::uintptr_t{fiber->index}) : nullptr;
}

bool has_ended(const Fiber& waiting) {
  const Fiber* fiber = g_sched.threads[waiting.step.object].fiber;
  return waiting.step.object == 0 || fiber == nullptr || fiber->state == FiberState::kFinished;
}

int join(Fiber* fiber, void** result, Nanos deadline) {
  if (fiber == g_sched.current) return EDEADLK;
  if (fiber->detached || fiber->joined) return EINVAL;
  if (fiber->state != FiberState::kFinished) {
    if (const int error = before_wait(deadline)) return error;
    fiber->joined = true;
    const bool ended = g_sched.block(clew::abi::WaitKind::kJoin, fiber, deadline);
    fiber->joined = false;
    if (!ended) return ETIMEDOUT;
  }
  if (result != nullptr) *result = fiber->result;
  g_sched.note_joined();
  g_sched.reclaim(fiber);
  return 0;
}

int join_handle(pthread_t handle, void** result, Nanos deadline) {
  Fiber* fiber = g_sched.find(handle);
  return fiber != nullptr ? join(fiber, result, deadline) : ESRCH;
}

}  // namespace

CLEW_EXPORT int pthread_create(pthread_t* out, const pthread_attr_t* attributes,
                               void* (*start)(void*), void* argument) {
  if (g_sched.active) reach_first_thread();
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kCreate, out}), pthread_create, out, attributes,
                  start, argument);
  auto* changeable = const_cast<pthread_attr_t*>(attributes);
  int detach_state = PTHREAD_CREATE_JOINABLE;
  // libc's side is always joinable: joining is how the stack goes back to it.
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &detach_state);
  if (detach_state == PTHREAD_CREATE_DETACHED)
    pthread_attr_setdetachstate(changeable, PTHREAD_CREATE_JOINABLE);

  Fiber* fiber = g_sched.new_fiber(g_sched.current);
  fiber->start = start;
  fiber->argument = argument;
  fiber->detached = detach_state == PTHREAD_CREATE_DETACHED;
  const int error = give_block(*fiber, attributes);
  if (detach_state == PTHREAD_CREATE_DETACHED)
    pthread_attr_setdetachstate(changeable, PTHREAD_CREATE_DETACHED);
  if (error != 0) {
    g_sched.discard(fiber);
    return answer(error);
  }
  *out = fiber->handle;
  g_sched.add(fiber);
  return answer(0);
}

CLEW_EXPORT int pthread_join(pthread_t handle, void** result) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle), has_ended}),
                  pthread_join, handle, result);
  return answer(join_handle(handle, result, kForever));
}

CLEW_EXPORT int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle)}), pthread_tryjoin_np,
                  handle, result);
  Fiber* fiber = g_sched.find(handle);
  if (fiber != nullptr && fiber->state != FiberState::kFinished) return answer(EBUSY);
  return answer(join_handle(handle, result, kForever));
}

CLEW_EXPORT int pthread_timedjoin_np(pthread_t handle, void** result, const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle)}), pthread_timedjoin_np,
                  handle, result, until);
  return answer(join_handle(handle, result, deadline_of(CLOCK_REALTIME, until)));
}

CLEW_EXPORT int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock,
                                     const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle)}), pthread_clockjoin_np,
                  handle, result, clock, until);
  if (!is_wait_clock(clock)) return answer(EINVAL);
  return answer(join_handle(handle, result, deadline_of(clock, until)));
}

CLEW_EXPORT int pthread_detach(pthread_t handle) noexcept {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle)}), pthread_detach,
                  handle);
  Fiber* fiber = g_sched.find(handle);
  if (fiber == nullptr) return answer(ESRCH);
  if (fiber->detached) return answer(EINVAL);
  fiber->detached = true;
  if (fiber->state == FiberState::kFinished) g_sched.reclaim(fiber);
  return answer(0);
}

CLEW_EXPORT int pthread_once(pthread_once_t* control, void (*routine)(void)) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, control}), pthread_once, control, routine);
  return answer(run_once(control, routine, CLEW_CALLER));
}

// Signal 0 only asks whether the thread is there.
CLEW_EXPORT int pthread_kill(pthread_t handle, int signal) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_kill)(handle, signal);
  if (signal != 0) end_unsupported("pthread_kill()");
  return g_sched.find(handle) != nullptr ? 0 : ESRCH;
}

CLEW_EXPORT int pthread_setname_np(pthread_t handle, const char* name) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_setname_np)(handle, name);
  Fiber* fiber = g_sched.find(handle);
  if (fiber == nullptr) return ESRCH;
  if (strlen(name) >= sizeof fiber->name) return ERANGE;
  strcpy(fiber->name, name);
  Payload payload;
  payload.number(fiber->index).text(name);
  g_log.message(clew::abi::MessageType::kName, payload);
  return 0;
}

CLEW_EXPORT int pthread_getname_np(pthread_t handle, char* name, size_t size) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_getname_np)(handle, name, size);
  const Fiber* fiber = g_sched.find(handle);
  if (fiber == nullptr) return ESRCH;
  const char* known = fiber->name[0] != '\0' ? fiber->name : program_invocation_short_name;
  const size_t length = strnlen(known, sizeof fiber->name - 1);
  if (size <= length) return ERANGE;
  memcpy(name, known, length);
  name[length] = '\0';
  return 0;
}
