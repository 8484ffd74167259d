// The functions that change the ids of the process. libc makes every thread execute the system
// call, by a signal, while it holds a lock of its own. There is one kernel thread here, so one call
// suffices.
#include <grp.h>
#include <sys/syscall.h>

#include "runtime/intercept/call.h"
#include "runtime/syscall/system_call.h"

using namespace clew::rt;

namespace {

constexpr long kSame = -1;

template <class... Arguments>
int change_ids(long number, Arguments... arguments) {
  return static_cast<int>(with_errno(system_call(number, arguments...)));
}

}  // namespace

CLEW_INTERPOSE int setuid(uid_t id) noexcept {
  return g_sched.active ? change_ids(SYS_setuid, id) : CLEW_REAL(setuid)(id);
}

CLEW_INTERPOSE int setgid(gid_t id) noexcept {
  return g_sched.active ? change_ids(SYS_setgid, id) : CLEW_REAL(setgid)(id);
}

CLEW_INTERPOSE int seteuid(uid_t id) noexcept {
  if (!g_sched.active) return CLEW_REAL(seteuid)(id);
  if (id == static_cast<uid_t>(kSame)) return static_cast<int>(with_errno(-EINVAL));
  return change_ids(SYS_setresuid, kSame, id, kSame);
}

CLEW_INTERPOSE int setegid(gid_t id) noexcept {
  if (!g_sched.active) return CLEW_REAL(setegid)(id);
  if (id == static_cast<gid_t>(kSame)) return static_cast<int>(with_errno(-EINVAL));
  return change_ids(SYS_setresgid, kSame, id, kSame);
}

CLEW_INTERPOSE int setreuid(uid_t real, uid_t effective) noexcept {
  if (!g_sched.active) return CLEW_REAL(setreuid)(real, effective);
  return change_ids(SYS_setreuid, real, effective);
}

CLEW_INTERPOSE int setregid(gid_t real, gid_t effective) noexcept {
  if (!g_sched.active) return CLEW_REAL(setregid)(real, effective);
  return change_ids(SYS_setregid, real, effective);
}

CLEW_INTERPOSE int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  if (!g_sched.active) return CLEW_REAL(setresuid)(real, effective, saved);
  return change_ids(SYS_setresuid, real, effective, saved);
}

CLEW_INTERPOSE int setresgid(gid_t real, gid_t effective, gid_t saved) noexcept {
  if (!g_sched.active) return CLEW_REAL(setresgid)(real, effective, saved);
  return change_ids(SYS_setresgid, real, effective, saved);
}

CLEW_INTERPOSE int setgroups(size_t count, const gid_t* groups) noexcept {
  if (!g_sched.active) return CLEW_REAL(setgroups)(count, groups);
  return change_ids(SYS_setgroups, count, groups);
}
