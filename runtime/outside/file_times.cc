#include "runtime/outside/file_times.h"

#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <utime.h>

#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"
#include "runtime/time/deadline.h"

namespace clew::rt {
namespace {

constexpr Nanos kSecond = 1'000'000'000;
constexpr Nanos kDay = 86'400 * kSecond;
// Chosen: how far file times may be from virtual time.
constexpr Nanos kTolerance = kSecond / 10;
constexpr Nanos kFraction = 1024;

Nanos g_epoch = 0;  // virtual time when the run began
Nanos g_began = 0;  // the kernel's
Nanos g_days = 0;   // that earlier times are older
AfterJumps g_after = AfterJumps::kDoNotWait;

// What the kernel's clock showed at a virtual time; in the order of both.
struct Moment {
  Nanos kernel, program, idle;
};
constexpr std::uint32_t kMoments = 1024;  // chosen; earlier ones are forgotten
Moment g_moments[kMoments];
std::uint32_t g_moment_count = 0;

// Times on the disk and what they are for the program, where it is not computed. Chosen: a program
// that copies times reads them just before.
struct Pair {
  Nanos disk, program;
};
constexpr std::uint32_t kPairs = 1024;
struct Pairs {
  Pair entries[kPairs] = {};
  std::uint32_t next = 0;
  void add(Pair pair) { entries[next++ % kPairs] = pair; }
  const Pair* find(Nanos Pair::* which, Nanos value) const {
    for (std::uint32_t i = next; i > 0 && i + kPairs > next; --i)
      if (entries[(i - 1) % kPairs].*which == value) return &entries[(i - 1) % kPairs];
    return nullptr;
  }
};
constinit Pairs g_set;   // by the program
constinit Pairs g_read;  // by the program

Nanos kernel_time(clockid_t clock) {
  timespec t{};
  raw_syscall(SYS_clock_gettime, clock, reinterpret_cast<long>(&t));
  return t.tv_sec * kSecond + t.tv_nsec;
}

// What the next change has at least. Kernels since 6.13 give some files the exact time, which is later.
Nanos least_time() { return kernel_time(CLOCK_REALTIME_COARSE); }

// Until the next change comes out later than all before.
void wait_for_tick() {
  constexpr timespec kShort{0, 500'000};
  const Nanos before = kernel_time(CLOCK_REALTIME);
  while (least_time() < before) raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&kShort), 0);
}

// A file's time must be the same whenever it is read, so it cannot depend on what time it is by then;
// and it must not be later than that. Between two moments the order of changes is kept, in a fraction
// of the real time, which passes faster than virtual time where the machine is busy. REQUIRES: t is not
// before `began`.
Nanos during_run(Nanos t, Nanos began) {
  std::uint32_t at = g_moment_count;
  const std::uint32_t end = g_moment_count > kMoments ? g_moment_count - kMoments : 0;
  while (at > end && g_moments[(at - 1) % kMoments].kernel > t) --at;
  Moment from{began, g_epoch, 0};
  if (at > end) from = g_moments[(at - 1) % kMoments];
  const Nanos later = (t - from.kernel) / kFraction;
  g_sched.uncovered |= abi::kUncoveredTime;
  return from.program + (later < kTolerance ? later : kTolerance - 1);
}

// `unit`: a second for times in whole seconds.
Nanos for_program(Nanos t, Nanos unit) {
  if (const Pair* known = g_set.find(&Pair::disk, t)) return known->program;
  const Nanos began = g_began / unit * unit;
  return t < began ? t - g_days : during_run(t, began);
}

// REQUIRES: the time is a multiple of the unit.
Nanos for_disk(Nanos program, Nanos unit) {
  if (const Pair* known = g_read.find(&Pair::program, program)) return known->disk;
  const Nanos since = program - g_epoch;
  const Nanos disk = since > -kDay && since < kDay + (real_time_now() - g_epoch)
                         ? (g_began + since) / unit * unit
                         : program;
  g_set.add({disk, program});
  return disk;
}

// Seconds beyond these are no times of files.
bool counts(std::int64_t seconds) { return seconds > -(1LL << 33) && seconds < (1LL << 33); }

template <class Seconds, class Part>
void show(Seconds& seconds, Part& nanos) {
  if (!counts(seconds)) return;
  const Nanos disk = seconds * kSecond + nanos;
  const Nanos t = for_program(disk, 1);
  g_read.add({disk, t});
  seconds = t >= 0 ? t / kSecond : (t - kSecond + 1) / kSecond;
  nanos = static_cast<Part>(t - seconds * kSecond);
}

void show(timespec& t) { show(t.tv_sec, t.tv_nsec); }
void show(statx_timestamp& t) {
  if (t.tv_sec != 0 || t.tv_nsec != 0) show(t.tv_sec, t.tv_nsec);
}
void show_seconds(time_t& t) {
  // 0: never. Of a second, the last instant: what has just changed is more often looked at.
  if (t != 0 && counts(t)) t = for_program(t * kSecond + kSecond - 1, kSecond) / kSecond;
}

void show(struct stat& status) {
  show(status.st_atim);
  show(status.st_mtim);
  show(status.st_ctim);
}
void show(struct statx& status) {
  show(status.stx_atime);
  show(status.stx_btime);
  show(status.stx_ctime);
  show(status.stx_mtime);
}

timespec hide(timespec t, Nanos unit = 1) {
  if (t.tv_nsec < 0 || t.tv_nsec >= kSecond || !counts(t.tv_sec)) return t;  // UTIME_NOW, ...
  const Nanos disk = for_disk(t.tv_sec * kSecond + t.tv_nsec, unit);
  const Nanos seconds = disk >= 0 ? disk / kSecond : (disk - kSecond + 1) / kSecond;
  return {seconds, disk - seconds * kSecond};
}
timeval hide(timeval t) {
  if (t.tv_usec < 0 || t.tv_usec >= 1'000'000) return t;
  const timespec disk = hide(timespec{t.tv_sec, t.tv_usec * 1000}, 1000);
  return {disk.tv_sec, disk.tv_nsec / 1000};
}

template <class T>
T* pointer(long a) {
  return reinterpret_cast<T*>(a);
}

long raw_syscall_of(const Call& call) {
  return raw_syscall(call.number, call.a[0], call.a[1], call.a[2], call.a[3], call.a[4], call.a[5]);
}

// The call with these times instead of those that the argument points to.
template <class T>
long with_times(Call call, int argument) {
  if (call.a[argument] == 0) return raw_syscall_of(call);
  T times[2] = {hide(pointer<T>(call.a[argument])[0]), hide(pointer<T>(call.a[argument])[1])};
  call.a[argument] = reinterpret_cast<long>(times);
  return raw_syscall_of(call);
}

long set_seconds(Call call) {
  if (call.a[1] == 0) return raw_syscall_of(call);
  const utimbuf given = *pointer<utimbuf>(call.a[1]);
  utimbuf times{hide({given.actime, 0}, kSecond).tv_sec, hide({given.modtime, 0}, kSecond).tv_sec};
  call.a[1] = reinterpret_cast<long>(&times);
  return raw_syscall_of(call);
}

void show_object(const Call& call) {
  switch (call.number) {
    case SYS_msgctl:
      if (call.a[1] != IPC_STAT && call.a[1] != MSG_STAT && call.a[1] != MSG_STAT_ANY) return;
      show_seconds(pointer<msqid_ds>(call.a[2])->msg_stime);
      show_seconds(pointer<msqid_ds>(call.a[2])->msg_rtime);
      return show_seconds(pointer<msqid_ds>(call.a[2])->msg_ctime);
    case SYS_semctl:
      if (call.a[2] != IPC_STAT && call.a[2] != SEM_STAT && call.a[2] != SEM_STAT_ANY) return;
      show_seconds(pointer<semid_ds>(call.a[3])->sem_otime);
      return show_seconds(pointer<semid_ds>(call.a[3])->sem_ctime);
    default:
      if (call.a[1] != IPC_STAT && call.a[1] != SHM_STAT && call.a[1] != SHM_STAT_ANY) return;
      show_seconds(pointer<shmid_ds>(call.a[2])->shm_atime);
      show_seconds(pointer<shmid_ds>(call.a[2])->shm_dtime);
      return show_seconds(pointer<shmid_ds>(call.a[2])->shm_ctime);
  }
}

bool may_set_times(const Call& call) {
  switch (call.number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
      return call.a[0] > 2;
    case SYS_open:
    case SYS_openat:
    case SYS_openat2:
    case SYS_creat:
    case SYS_sendfile:
    case SYS_copy_file_range:
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_rmdir:
    case SYS_link:
    case SYS_linkat:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_symlink:
    case SYS_symlinkat:
    case SYS_mknod:
    case SYS_mknodat:
    case SYS_chmod:
    case SYS_fchmod:
    case SYS_fchmodat:
    case SYS_chown:
    case SYS_fchown:
    case SYS_lchown:
    case SYS_fchownat:
    case SYS_truncate:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_utime:
    case SYS_utimes:
    case SYS_utimensat:
    case SYS_futimesat:
    case SYS_msgget:
    case SYS_msgctl:
    case SYS_msgsnd:
    case SYS_msgrcv:
    case SYS_semget:
    case SYS_semctl:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_shmget:
    case SYS_shmctl:
    case SYS_shmat:
    case SYS_shmdt:
      return true;
    default:
      return false;
  }
}

}  // namespace

void begin_file_times(Nanos epoch, AfterJumps after) {
  g_epoch = epoch;
  g_after = after;
  g_began = least_time();
  g_days = g_began > epoch ? (g_began - epoch + kDay - 1) / kDay * kDay : 0;
}

void before_change(const Call& call) {
  if (!may_set_times(call)) return;
  const Nanos now = real_time_now();
  Nanos jumped = g_sched.idle();
  if (g_moment_count > 0) {
    const Moment& last = g_moments[(g_moment_count - 1) % kMoments];
    if (now - last.program < kTolerance && now >= last.program) return;
    jumped -= last.idle;
  }
  if (jumped >= kTolerance / 2 && g_after == AfterJumps::kWait) wait_for_tick();
  g_moments[g_moment_count++ % kMoments] = {least_time(), now, g_sched.idle()};
}

bool is_about_times(long number) {
  switch (number) {
    case SYS_stat:
    case SYS_fstat:
    case SYS_lstat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_utime:
    case SYS_utimes:
    case SYS_utimensat:
    case SYS_futimesat:
    case SYS_msgctl:
    case SYS_semctl:
    case SYS_shmctl:
      return true;
    default:
      return false;
  }
}

long call_with_times(const Call& call) {
  switch (call.number) {
    case SYS_utime:
      return set_seconds(call);
    case SYS_utimes:
      return with_times<timeval>(call, 1);
    case SYS_futimesat:
      return with_times<timeval>(call, 2);
    case SYS_utimensat:
      return with_times<timespec>(call, 2);
    default:
      break;
  }
  const long result = raw_syscall_of(call);
  if (result < 0) return result;
  switch (call.number) {
    case SYS_stat:
    case SYS_fstat:
    case SYS_lstat:
      show(*pointer<struct stat>(call.a[1]));
      break;
    case SYS_newfstatat:
      show(*pointer<struct stat>(call.a[2]));
      break;
    case SYS_statx:
      show(*pointer<struct statx>(call.a[4]));
      break;
    default:
      show_object(call);
      break;
  }
  return result;
}

}  // namespace clew::rt
