// Policies, priorities and processors of threads (thread/scheduling.h).
#include "runtime/thread/scheduling.h"

#include "runtime/intercept/call.h"
#include "runtime/thread/thread_block.h"

using namespace clew::rt;

namespace {

Fiber* living(pthread_t handle) {
  Fiber* fiber = g_sched.threads.find(handle);
  return fiber != nullptr && fiber->state != FiberState::kFinished ? fiber : nullptr;
}

}  // namespace

CLEW_INTERPOSE int pthread_setschedparam(pthread_t handle, int policy,
                                         const sched_param* parameters) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_setschedparam)(handle, policy, parameters);
  Fiber* fiber = living(handle);
  return fiber != nullptr ? change_scheduling(*fiber, policy, parameters->sched_priority) : ESRCH;
}

CLEW_INTERPOSE int pthread_setschedprio(pthread_t handle, int priority) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_setschedprio)(handle, priority);
  Fiber* fiber = living(handle);
  return fiber != nullptr ? change_scheduling(*fiber, fiber->scheduling.policy, priority) : ESRCH;
}

CLEW_INTERPOSE int pthread_getschedparam(pthread_t handle, int* policy,
                                         sched_param* parameters) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_getschedparam)(handle, policy, parameters);
  const Fiber* fiber = living(handle);
  if (fiber == nullptr) return ESRCH;
  *policy = fiber->scheduling.policy;
  parameters->sched_priority = fiber->scheduling.priority;
  return 0;
}

CLEW_INTERPOSE int pthread_setaffinity_np(pthread_t handle, size_t size,
                                          const cpu_set_t* set) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_setaffinity_np)(handle, size, set);
  Fiber* fiber = living(handle);
  return fiber != nullptr ? set_affinity(*fiber, size, set) : ESRCH;
}

CLEW_INTERPOSE int pthread_getaffinity_np(pthread_t handle, size_t size, cpu_set_t* set) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_getaffinity_np)(handle, size, set);
  const Fiber* fiber = living(handle);
  return fiber != nullptr ? get_affinity(*fiber, size, set) : ESRCH;
}

// libc knows the stack. It asks the kernel for the processors, by the id of a kernel thread.
CLEW_INTERPOSE int pthread_getattr_np(pthread_t handle, pthread_attr_t* out) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_getattr_np)(handle, out);
  const Fiber* fiber = g_sched.threads.find(handle);
  if (fiber == nullptr) return ESRCH;
  int error;
  {
    const AsKernelThread as_kernel_thread(*fiber);
    error = CLEW_REAL(pthread_getattr_np)(handle, out);
  }
  if (error != 0) return error;
  const sched_param parameters{fiber->scheduling.priority};
  pthread_attr_setdetachstate(out,
                              fiber->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  pthread_attr_setschedpolicy(out, fiber->scheduling.policy);
  pthread_attr_setschedparam(out, &parameters);
  if (fiber->scheduling.has_affinity)
    pthread_attr_setaffinity_np(out, sizeof(cpu_set_t), &fiber->scheduling.affinity);
  return 0;
}

// The kernel's encoding: the thread's number, "of a thread", "processor time".
CLEW_INTERPOSE int pthread_getcpuclockid(pthread_t handle, clockid_t* clock) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_getcpuclockid)(handle, clock);
  const Fiber* fiber = living(handle);
  if (fiber == nullptr) return ESRCH;
  constexpr unsigned kOfThread = 4;
  constexpr unsigned kProcessorTime = 2;
  *clock = static_cast<clockid_t>(~static_cast<unsigned>(fiber->number) << 3 | kOfThread |
                                  kProcessorTime);
  return 0;
}

CLEW_INTERPOSE int sched_setscheduler(pid_t pid, int policy,
                                      const sched_param* parameters) noexcept {
  Fiber* fiber = g_sched.active ? thread_of_number(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_setscheduler)(pid, policy, parameters);
  return answer_errno(change_scheduling(*fiber, policy, parameters->sched_priority));
}

CLEW_INTERPOSE int sched_getscheduler(pid_t pid) noexcept {
  const Fiber* fiber = g_sched.active ? thread_of_number(pid) : nullptr;
  return fiber != nullptr ? fiber->scheduling.policy : CLEW_REAL(sched_getscheduler)(pid);
}

CLEW_INTERPOSE int sched_setparam(pid_t pid, const sched_param* parameters) noexcept {
  Fiber* fiber = g_sched.active ? thread_of_number(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_setparam)(pid, parameters);
  return answer_errno(
      change_scheduling(*fiber, fiber->scheduling.policy, parameters->sched_priority));
}

CLEW_INTERPOSE int sched_getparam(pid_t pid, sched_param* parameters) noexcept {
  const Fiber* fiber = g_sched.active ? thread_of_number(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_getparam)(pid, parameters);
  parameters->sched_priority = fiber->scheduling.priority;
  return 0;
}

CLEW_INTERPOSE int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* set) noexcept {
  Fiber* fiber = g_sched.active ? thread_of_number(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_setaffinity)(pid, size, set);
  return answer_errno(set_affinity(*fiber, size, set));
}

CLEW_INTERPOSE int sched_getaffinity(pid_t pid, size_t size, cpu_set_t* set) noexcept {
  const Fiber* fiber = g_sched.active ? thread_of_number(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_getaffinity)(pid, size, set);
  return answer_errno(get_affinity(*fiber, size, set));
}
