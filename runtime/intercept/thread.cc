// Creation, joining and names of threads.
#include "runtime/intercept/thread.h"

#include <string.h>
#include <sys/syscall.h>

#include "runtime/fiber/call_program.h"
#include "runtime/intercept/call.h"
#include "runtime/outside/children.h"
#include "runtime/outside/perform.h"
#include "runtime/signal/attend.h"
#include "runtime/signal/cancel.h"
#include "runtime/snapshot/server.h"
#include "runtime/sync/models.h"
#include "runtime/syscall/copy.h"
#include "runtime/thread/names.h"
#include "runtime/thread/thread_block.h"
#include "runtime/translate/translate.h"

using namespace clew::rt;

namespace {

// What the new thread is to have by its attributes, or has from its creator.
void set_scheduling(Fiber& fiber, const pthread_attr_t* attributes) {
  fiber.scheduling = g_sched.current->scheduling;
  if (attributes == nullptr) return;
  int inherit = PTHREAD_INHERIT_SCHED;
  pthread_attr_getinheritsched(attributes, &inherit);
  if (inherit == PTHREAD_EXPLICIT_SCHED) {
    sched_param parameters{};
    pthread_attr_getschedpolicy(attributes, &fiber.scheduling.policy);
    pthread_attr_getschedparam(attributes, &parameters);
    fiber.scheduling.priority = parameters.sched_priority;
  }
  cpu_set_t set;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
  if (pthread_attr_getaffinity_np(attributes, sizeof set, &set) != 0 || CPU_EQUAL(&set, &all))
    return;
  fiber.scheduling.affinity = set;
  fiber.scheduling.has_affinity = true;
}

void set_signal_mask(Fiber& fiber, const pthread_attr_t* attributes) {
  sigset_t mask;
  if (attributes == nullptr || pthread_attr_getsigmask_np(attributes, &mask) != 0) return;
  memcpy(&fiber.signals.mask, &mask, sizeof fiber.signals.mask);
}

// Whether there is room for another thread is an input: a replay may have another amount.
int give_recorded_block(Fiber& fiber, const pthread_attr_t* attributes) {
  const long answer =
      answered(Call{SYS_clone, {}}, [&] { return -long{give_block(fiber, attributes)}; });
  const bool again = g_inputs.replaying() && answer == 0;
  return again ? give_block(fiber, attributes) : static_cast<int>(-answer);
}

// Another thread may have had the stack before. libc puts the thread control block, which the handle is
// the address of, at its upper end.
void announce_stack(const Fiber& fiber, const pthread_attr_t& attributes) {
  if (CLEW_LIKELY(!g_listeners.hears_of(kTopicMemory))) return;
  constexpr std::size_t kBlock = 2048;  // less than libc's
  std::size_t size = 0;
  pthread_attr_getstacksize(&attributes, &size);
  if (size > fiber.handle) return;
  g_sched.announce_memory(MemoryChange::Kind::kReplaced,
                          reinterpret_cast<const void*>(fiber.handle - size), size + kBlock,
                          nullptr);
}

int join(Fiber* fiber, void** result, Nanos deadline) {
  Fiber* self = g_sched.current;
  if (fiber->detached) return EINVAL;
  const bool each_other = self->joiner == fiber && !fiber->cancellation.pending;
  if ((fiber == self || each_other) && !cancel_wanted(*self)) return EDEADLK;
  if (fiber->joiner != nullptr) return EINVAL;
  if (fiber->state != FiberState::kFinished) {
    if (const int error = before_wait(deadline)) return error;
    test_cancel();
    fiber->joiner = self;
    const Woke woke = g_sched.block(clew::abi::WaitKind::kJoin, fiber, deadline, kCancel);
    fiber->joiner = nullptr;
    if (woke == Woke::kByCancel) act_on_cancel();
    if (woke == Woke::kByTime) return ETIMEDOUT;
  }
  if (result != nullptr) *result = fiber->result;
  g_sched.note_joined(*fiber);
  g_sched.reclaim(*fiber);
  return 0;
}

}  // namespace

namespace clew::rt {

void* thread_object(pthread_t handle) {
  const Fiber* fiber = g_sched.active ? g_sched.threads.find(handle) : nullptr;
  return fiber != nullptr ? reinterpret_cast<void*>(std::uintptr_t{fiber->index}) : nullptr;
}

bool has_ended(const Fiber& waiting) {
  const Fiber* fiber = g_sched.threads.fiber(waiting.reached.step.object);
  return waiting.reached.step.object == 0 || fiber == nullptr ||
         fiber->state == FiberState::kFinished;
}

int create_thread(pthread_t* out, const pthread_attr_t* attributes, void* (*start)(void*),
                  void* argument) {
  // The program may have changed what a thread without attributes gets.
  pthread_attr_t standard;
  if (attributes == nullptr) {
    if (const int error = pthread_getattr_default_np(&standard)) return error;
    const int error = create_thread(out, &standard, start, argument);
    pthread_attr_destroy(&standard);
    return error;
  }
  // libc's side is always joinable: joining is how the stack goes back to it.
  int detach_state = PTHREAD_CREATE_JOINABLE;
  pthread_attr_t joinable = *attributes;
  pthread_attr_getdetachstate(&joinable, &detach_state);
  pthread_attr_setdetachstate(&joinable, PTHREAD_CREATE_JOINABLE);
  attributes = &joinable;
  Fiber* fiber = &g_sched.threads.create(*g_sched.current);
  fiber->start = start;
  fiber->argument = argument;
  fiber->detached = detach_state == PTHREAD_CREATE_DETACHED;
  memcpy(fiber->name, g_sched.current->name, sizeof fiber->name);  // as the kernel has it
  set_signal_mask(*fiber, attributes);
  set_scheduling(*fiber, attributes);
  if (const int error = give_recorded_block(*fiber, attributes)) {
    g_sched.threads.discard(*fiber);
    return error;
  }
  *out = fiber->handle;
  announce_stack(*fiber, *attributes);
  note_created_thread(g_sched.current->index, fiber->index);
  g_sched.add(*fiber);
  return 0;
}

int join_thread(pthread_t handle, void** result, Nanos deadline) {
  Fiber* fiber = g_sched.threads.find(handle);
  return fiber != nullptr ? join(fiber, result, deadline) : ESRCH;
}

int detach_thread(pthread_t handle) {
  Fiber* fiber = g_sched.threads.find(handle);
  if (fiber == nullptr) return ESRCH;
  if (fiber->detached) return EINVAL;
  if (fiber->joiner != nullptr) return 0;  // as in glibc: it is joined nevertheless
  fiber->detached = true;
  if (fiber->state == FiberState::kFinished) g_sched.reclaim(*fiber);
  return 0;
}

void run_thread(Fiber& fiber) {
  g_sched.started();
  // A signal that came before its first step.
  if (fiber.disturbed) attend(fiber, kUndisturbed);
  end_thread(clew_call_program(fiber.start, fiber.argument));
}

}  // namespace clew::rt

CLEW_INTERPOSE int pthread_create(pthread_t* out, const pthread_attr_t* attributes,
                                  void* (*start)(void*), void* argument) {
  if (g_sched.active) reach_first_thread();
  if (g_sched.active && !keep_copy_with_threads()) continue_without_clew();
  if (!g_sched.active) note_thread_of_child();
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kCreate, out}), pthread_create, out, attributes,
                  start, argument);
  g_sched.pass_time(g_sched.at_speed(kNanosPerThread));
  return answer(create_thread(out, attributes, start, argument));
}

CLEW_INTERPOSE int pthread_join(pthread_t handle, void** result) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle), has_ended}),
                  pthread_join, handle, result);
  return answer(join_thread(handle, result, kForever));
}

CLEW_INTERPOSE int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle)}), pthread_tryjoin_np,
                  handle, result);
  Fiber* fiber = g_sched.threads.find(handle);
  if (fiber != nullptr && fiber->state != FiberState::kFinished) return answer(EBUSY);
  return answer(join_thread(handle, result, kForever));
}

CLEW_INTERPOSE int pthread_timedjoin_np(pthread_t handle, void** result, const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle)}), pthread_timedjoin_np,
                  handle, result, ForKernel(CLOCK_REALTIME, until));
  return answer(join_thread(handle, result, deadline_of(CLOCK_REALTIME, until)));
}

CLEW_INTERPOSE int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock,
                                        const timespec* until) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kJoin, thread_object(handle)}), pthread_clockjoin_np,
                  handle, result, clock, ForKernel(clock, until));
  if (!is_wait_clock(clock)) return answer(EINVAL);
  return answer(join_thread(handle, result, deadline_of(clock, until)));
}

CLEW_INTERPOSE int pthread_detach(pthread_t handle) noexcept {
  // Not a join: what the thread does later does not happen before what follows here.
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kOther, nullptr}), pthread_detach, handle);
  return answer(detach_thread(handle));
}

CLEW_EXPORT int pthread_once(pthread_once_t* control, void (*routine)(void)) {
  CLEW_ENTER_WITH((Intent{clew::abi::StepKind::kWait, control}), pthread_once, control, routine);
  (void)answer(run_once(control, routine, CLEW_CALLER));
  [[clang::musttail]] return clew_return_zero(control, routine);
}

CLEW_INTERPOSE int pthread_setname_np(pthread_t handle, const char* name) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_setname_np)(handle, name);
  Fiber* fiber = g_sched.threads.find(handle);
  if (fiber == nullptr) return ESRCH;
  if (strlen(name) >= sizeof fiber->name) return ERANGE;
  set_thread_name(*fiber, name);
  return 0;
}

CLEW_INTERPOSE int pthread_getname_np(pthread_t handle, char* name, size_t size) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_getname_np)(handle, name, size);
  const Fiber* fiber = g_sched.threads.find(handle);
  if (fiber == nullptr) return ESRCH;
  // The kernel's names have room for fifteen characters, and glibc asks for as much room.
  if (size < sizeof fiber->name) return ERANGE;
  get_thread_name(*fiber, name);
  return 0;
}
