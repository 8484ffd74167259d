// Resource limits. They are the kernel's, in a replay too: what it gives there, memory, depends on
// them.
#include <sys/resource.h>
#include <sys/syscall.h>

#include "clew_abi/control.h"
#include "runtime/arena.h"
#include "runtime/outside/perform.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

// RLIMIT_AS as the program has set it: the kernel is told more, for the runtime's own memory.
struct AddressSpace {
  bool is_set = false;
  rlimit limit{};
};
AddressSpace g_space;

rlim_t with_runtime(rlim_t size) {
  const auto* control = reinterpret_cast<const abi::Control*>(abi::kControlAddress);
  const rlim_t ours = kArenaSize + control->total_size;
  return size < RLIM_INFINITY - ours ? size + ours : RLIM_INFINITY;
}

rlimit for_kernel(int resource, const rlimit& wanted) {
  if (resource != RLIMIT_AS) return wanted;
  rlimit now{};
  to_kernel({SYS_prlimit64, {0, resource, 0, reinterpret_cast<long>(&now)}});
  rlimit more{with_runtime(wanted.rlim_cur), with_runtime(wanted.rlim_max)};
  // Who may not raise it does not: it is lower than it was in the program's eyes.
  if (more.rlim_max > now.rlim_max && wanted.rlim_max <= now.rlim_max) more.rlim_max = now.rlim_max;
  if (more.rlim_cur > more.rlim_max && wanted.rlim_cur <= wanted.rlim_max)
    more.rlim_cur = more.rlim_max;
  return more;
}

long change_limit(int resource, const rlimit* wanted, rlimit* before) {
  rlimit changed{};
  if (wanted != nullptr) changed = for_kernel(resource, *wanted);
  rlimit found{};
  const long result =
      to_kernel({SYS_prlimit64,
                 {0, resource, wanted != nullptr ? reinterpret_cast<long>(&changed) : 0,
                  reinterpret_cast<long>(&found)}});
  if (result != 0) return result;
  if (resource == RLIMIT_AS && g_space.is_set) found = g_space.limit;
  if (resource == RLIMIT_AS && wanted != nullptr) g_space = {true, *wanted};
  if (before != nullptr) *before = found;
  return 0;
}

}  // namespace

long limit_call(const Call& call) {
  const bool names_process = call.number == SYS_prlimit64;
  if (names_process && call.a[0] != 0 && call.a[0] != g_sched.process) return recorded(call);
  const auto resource = static_cast<int>(call.a[names_process ? 1 : 0]);
  const auto* wanted = reinterpret_cast<const rlimit*>(names_process                  ? call.a[2]
                                                       : call.number == SYS_setrlimit ? call.a[1]
                                                                                      : 0);
  auto* before = reinterpret_cast<rlimit*>(names_process                  ? call.a[3]
                                           : call.number == SYS_getrlimit ? call.a[1]
                                                                          : 0);
  const long result = answered(call, [&] { return change_limit(resource, wanted, before); });
  if (g_inputs.replaying() && result == 0 && wanted != nullptr)
    change_limit(resource, wanted, nullptr);
  return result;
}

}  // namespace clew::rt
