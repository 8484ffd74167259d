#include "runtime/thread/scheduling.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
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

// The kernel's checks, without changing anything: an error number.
int check_change(const SchedulingWish& now, int policy, int priority) {
  g_sched.pass_time(g_sched.at_speed(kNanosPerCall));
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

// Processors that the process may run on.
cpu_set_t allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  raw_syscall(SYS_sched_getaffinity, 0, sizeof set, reinterpret_cast<long>(&set));
  return set;
}

}  // namespace

Fiber* thread_of_number(pid_t number) {
  if (number == 0) return g_sched.current;
  Fiber* found = nullptr;
  g_sched.threads.for_each_living([&](Fiber& fiber) {
    if (fiber.number == number) found = &fiber;
  });
  return found;
}

int change_scheduling(Fiber& fiber, int policy, int priority) {
  constexpr int kResetOnFork = SCHED_RESET_ON_FORK;
  if (const int error = check_change(fiber.scheduling, policy & ~kResetOnFork, priority))
    return error;
  fiber.scheduling.policy = policy & ~kResetOnFork;
  fiber.scheduling.priority = priority;
  return 0;
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

int processor_of(const Fiber& fiber) {
  if (!fiber.scheduling.has_affinity) return 0;
  int first = 0;
  while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &fiber.scheduling.affinity)) ++first;
  return first;
}

}  // namespace clew::rt
