// Resource limits. The kernel enforces those of memory in a replay too, because memory is real.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "clew_abi/control.h"
#include "runtime/arena.h"
#include "runtime/layout/layout.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/syscall/families.h"

namespace clew::rt {
namespace {

// RLIMIT_AS as the program has set it. The kernel may be told another limit, because of the
// runtime's own memory.
struct AddressSpace {
  bool is_set = false;
  rlimit limit{};
};
AddressSpace g_space;

bool is_of_memory(int resource) {
  return resource == RLIMIT_DATA || resource == RLIMIT_STACK || resource == RLIMIT_MEMLOCK;
}

rlim_t in_use() {
  char text[64];
  const long file =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/statm"), O_RDONLY);
  const long size = raw_syscall(SYS_read, file, reinterpret_cast<long>(text), sizeof text - 1);
  raw_syscall(SYS_close, file);
  text[size > 0 ? size : 0] = '\0';
  return strtoul(text, nullptr, 10) * 4096;
}

// What to add to a limit of the address space. A limit below what is in use, most of which is the
// runtime's memory, was meant without it; a higher one may be computed from what is in use, which
// includes it. In a replay the runtime's memory has another size.
rlim_t runtime_share(const rlimit& wanted) {
  const auto* control = reinterpret_cast<const abi::Control*>(abi::kControlAddress);
  const rlim_t ours = control->total_size;
  const auto counted = static_cast<rlim_t>(answered(Call{SYS_getrlimit, {RLIMIT_AS}}, [&] {
    return wanted.rlim_cur < in_use() ? 0 : static_cast<long>(ours);
  }));
  return counted == 0 ? kArenaSize + ours + reserved_size() : ours - counted;
}

rlim_t plus(rlim_t limit, rlim_t share) { return limit == RLIM_INFINITY ? limit : limit + share; }

rlimit for_kernel(const rlimit& wanted, rlim_t share) {
  rlimit now{};
  to_kernel({SYS_prlimit64, {0, RLIMIT_AS, 0, reinterpret_cast<long>(&now)}});
  rlimit more{plus(wanted.rlim_cur, share), plus(wanted.rlim_max, share)};
  // A process that may not raise the limit does not: for the program it becomes lower than it was.
  if (more.rlim_max > now.rlim_max && wanted.rlim_max <= now.rlim_max) more.rlim_max = now.rlim_max;
  if (more.rlim_cur > more.rlim_max && wanted.rlim_cur <= wanted.rlim_max)
    more.rlim_cur = more.rlim_max;
  return more;
}

long limit_address_space(const rlimit* wanted, rlim_t share, rlimit* before) {
  rlimit changed{};
  if (wanted != nullptr) changed = for_kernel(*wanted, share);
  rlimit found{};
  const long result =
      to_kernel({SYS_prlimit64,
                 {0, RLIMIT_AS, wanted != nullptr ? reinterpret_cast<long>(&changed) : 0,
                  reinterpret_cast<long>(&found)}});
  if (result != 0) return result;
  if (g_space.is_set) found = g_space.limit;
  if (wanted != nullptr) g_space = {true, *wanted};
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
  if (resource != RLIMIT_AS) {
    const long result = recorded(call);
    if (g_inputs.replaying() && result == 0 && wanted != nullptr && is_of_memory(resource))
      to_kernel(call);
    return result;
  }
  const rlim_t share = wanted != nullptr ? runtime_share(*wanted) : 0;
  const long result = answered(call, [&] { return limit_address_space(wanted, share, before); });
  if (g_inputs.replaying() && result == 0 && wanted != nullptr)
    limit_address_space(wanted, share, nullptr);
  return result;
}

}  // namespace clew::rt
