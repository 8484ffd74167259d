// Policies, priorities and processors of threads. There is one kernel thread, and the order of the
// program's threads is the scheduler's: what the program asks for is kept, checked as the kernel
// would check it, and answered, nothing else.
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "runtime/intercept/call.h"
#include "runtime/intercept/thread.h"
#include "runtime/intercept/thread_block.h"
#include "runtime/outside/perform.h"
#include "runtime/raw_syscall.h"

using namespace clew::rt;

namespace {

bool is_real_time(int policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }

bool is_policy(int policy) {
  return is_real_time(policy) || policy == SCHED_OTHER || policy == SCHED_BATCH ||
         policy == SCHED_IDLE;
}

bool may_be_anything() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (raw_syscall(SYS_capget, reinterpret_cast<long>(&header), reinterpret_cast<long>(data)) != 0)
    return false;
  return (data[0].effective & 1u << CAP_SYS_NICE) != 0;
}

// As the kernel does without changing anything: an error number.
int check_change(const SchedulingWish& now, int policy, int priority) {
  g_sched.pass_time(kNanosPerCall);
  const bool real_time = is_real_time(policy);
  if (!is_policy(policy) || priority < (real_time ? 1 : 0) || priority > (real_time ? 99 : 0))
    return EINVAL;
  if (!real_time || may_be_anything()) return 0;
  rlimit limit{};
  raw_syscall(SYS_getrlimit, RLIMIT_RTPRIO, reinterpret_cast<long>(&limit));
  const auto most = static_cast<int>(limit.rlim_cur > 99 ? 99 : limit.rlim_cur);
  if (policy != now.policy && most == 0) return EPERM;
  return priority > now.priority && priority > most ? EPERM : 0;
}

int change(Fiber& fiber, int policy, int priority) {
  constexpr int kResetOnFork = SCHED_RESET_ON_FORK;
  if (const int error = check_change(fiber.scheduling, policy & ~kResetOnFork, priority))
    return error;
  fiber.scheduling.policy = policy & ~kResetOnFork;
  fiber.scheduling.priority = priority;
  return 0;
}

// Processors that the process may run on.
cpu_set_t allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  raw_syscall(SYS_sched_getaffinity, 0, sizeof set, reinterpret_cast<long>(&set));
  return set;
}

int set_affinity(Fiber& fiber, std::size_t size, const cpu_set_t* wanted) {
  cpu_set_t set;
  CPU_ZERO(&set);
  memcpy(&set, wanted, size < sizeof set ? size : sizeof set);
  const cpu_set_t possible = allowed();
  CPU_AND(&set, &set, &possible);
  if (CPU_COUNT(&set) == 0) return EINVAL;
  fiber.scheduling.affinity = set;
  fiber.scheduling.has_affinity = true;
  return 0;
}

int get_affinity(const Fiber& fiber, std::size_t size, cpu_set_t* out) {
  const cpu_set_t set = fiber.scheduling.has_affinity ? fiber.scheduling.affinity : allowed();
  // The kernel takes whole words, and as many as there are processors.
  std::size_t needed = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) needed = static_cast<std::size_t>(i) / 64 * 8 + 8;
  if (size % 8 != 0 || size < needed) return EINVAL;
  memset(out, 0, size);
  memcpy(out, &set, size < sizeof set ? size : sizeof set);
  return 0;
}

// The thread that the sched_... functions mean; null: it is none of this program's.
Fiber* thread_of(pid_t pid) {
  if (pid == 0) return g_sched.current;
  Fiber* found = nullptr;
  g_sched.for_each_living([&](Fiber& fiber) {
    if (fiber.number == pid) found = &fiber;
  });
  return found;
}

Fiber* living(pthread_t handle) {
  Fiber* fiber = g_sched.find(handle);
  return fiber != nullptr && fiber->state != FiberState::kFinished ? fiber : nullptr;
}

}  // namespace

namespace clew::rt {

int processor_of(const Fiber& fiber) {
  if (!fiber.scheduling.has_affinity) return 0;
  int first = 0;
  while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &fiber.scheduling.affinity)) ++first;
  return first;
}

// Not by libc's functions: the number of a thread means something here only.
long scheduling_call(const Call& call) {
  Fiber* fiber = thread_of(static_cast<pid_t>(call.a[0]));
  if (fiber == nullptr) return recorded(call);
  const SchedulingWish& wish = fiber->scheduling;
  switch (call.number) {
    case SYS_sched_setscheduler:
      return -change(*fiber, static_cast<int>(call.a[1]),
                     reinterpret_cast<const sched_param*>(call.a[2])->sched_priority);
    case SYS_sched_getscheduler:
      return wish.policy;
    case SYS_sched_setparam:
      return -change(*fiber, wish.policy,
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

CLEW_INTERPOSE int pthread_setschedparam(pthread_t handle, int policy,
                                         const sched_param* parameters) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_setschedparam)(handle, policy, parameters);
  Fiber* fiber = living(handle);
  return fiber != nullptr ? change(*fiber, policy, parameters->sched_priority) : ESRCH;
}

CLEW_INTERPOSE int pthread_setschedprio(pthread_t handle, int priority) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_setschedprio)(handle, priority);
  Fiber* fiber = living(handle);
  return fiber != nullptr ? change(*fiber, fiber->scheduling.policy, priority) : ESRCH;
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

// libc knows the stack. It asks the kernel for processors, by the number of a kernel thread.
CLEW_INTERPOSE int pthread_getattr_np(pthread_t handle, pthread_attr_t* out) noexcept {
  if (!g_sched.active) return CLEW_REAL(pthread_getattr_np)(handle, out);
  const Fiber* fiber = g_sched.find(handle);
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
  Fiber* fiber = g_sched.active ? thread_of(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_setscheduler)(pid, policy, parameters);
  return answer_errno(change(*fiber, policy, parameters->sched_priority));
}

CLEW_INTERPOSE int sched_getscheduler(pid_t pid) noexcept {
  const Fiber* fiber = g_sched.active ? thread_of(pid) : nullptr;
  return fiber != nullptr ? fiber->scheduling.policy : CLEW_REAL(sched_getscheduler)(pid);
}

CLEW_INTERPOSE int sched_setparam(pid_t pid, const sched_param* parameters) noexcept {
  Fiber* fiber = g_sched.active ? thread_of(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_setparam)(pid, parameters);
  return answer_errno(change(*fiber, fiber->scheduling.policy, parameters->sched_priority));
}

CLEW_INTERPOSE int sched_getparam(pid_t pid, sched_param* parameters) noexcept {
  const Fiber* fiber = g_sched.active ? thread_of(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_getparam)(pid, parameters);
  parameters->sched_priority = fiber->scheduling.priority;
  return 0;
}

CLEW_INTERPOSE int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* set) noexcept {
  Fiber* fiber = g_sched.active ? thread_of(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_setaffinity)(pid, size, set);
  return answer_errno(set_affinity(*fiber, size, set));
}

CLEW_INTERPOSE int sched_getaffinity(pid_t pid, size_t size, cpu_set_t* set) noexcept {
  const Fiber* fiber = g_sched.active ? thread_of(pid) : nullptr;
  if (fiber == nullptr) return CLEW_REAL(sched_getaffinity)(pid, size, set);
  return answer_errno(get_affinity(*fiber, size, set));
}
