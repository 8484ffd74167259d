// Clocks, sleeps and timers. Time is virtual.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>

#include "runtime/arena.h"
#include "runtime/outside/descriptors.h"
#include "runtime/outside/foreign.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/cancel.h"
#include "runtime/signal/signals.h"
#include "runtime/syscall/families.h"
#include "runtime/syscall/timers.h"
#include "runtime/time/deadline.h"

namespace clew::rt {

constinit TimerThreads g_timer_threads;

namespace {

struct ProgramTimer {
  Timer timer;  // first
  Nanos interval = 0;
  Nanos due = 0;            // when it has sent what is still pending
  bool is_pending = false;  // it is armed again when that is taken
  bool used = false;        // interval timers: never
  int id = 0;
  int signal = 0;  // 0: none
  sigval value = {};
  clockid_t clock = CLOCK_MONOTONIC;
  int overruns = 0;
  void (*function)(sigval) = nullptr;  // SIGEV_THREAD
  int descriptor = -1;                 // timerfd: an eventfd that counts expirations
};

// Timers of a program. Chosen, not measured.
constexpr int kMost = 1024;
// Made when they are first used: initialised memory is copied whenever a process is put back, and 88
// KiB of it cost a hunt several per cent.
ProgramTimer* g_timers[kMost];
int g_timers_end = 0;               // none beyond was ever used
ProgramTimer g_interval_timers[3];  // ITIMER_REAL, _VIRTUAL, _PROF

// The least time between two expirations of a timer whose signal is ignored, which would otherwise
// take all of the processor; the kernel has such a limit too.
constexpr Nanos kLeastWhenIgnored = 4'000'000;

bool send(const ProgramTimer& timer) {
  return timer.used ? post_by_timer(timer.signal, timer.id, timer.value)
                    : post_by_kernel(timer.signal);
}

// As in the kernel, a timer has at most one pending signal: expirations in the meantime count as
// overruns.
void on_due_with_signal(ProgramTimer& timer) {
  timer.due = g_sched.now();
  timer.is_pending = send(timer) && timer.interval > 0;
  if (timer.is_pending || timer.interval == 0) return;
  g_sched.timers.arm(timer.timer, timer.due + (timer.interval + kLeastWhenIgnored - 1) /
                                                  timer.interval * timer.interval);
}

void on_due(Timer& timer) {
  auto& self = reinterpret_cast<ProgramTimer&>(timer);
  if (self.signal != 0) return on_due_with_signal(self);
  if (self.interval > 0) g_sched.timers.arm(timer, g_sched.now() + self.interval);
  if (self.descriptor >= 0) {
    const std::uint64_t one = 1;
    if (!g_inputs.replaying())
      raw_syscall(SYS_write, self.descriptor, reinterpret_cast<long>(&one), sizeof one);
  }
  if (self.function != nullptr) g_timer_threads.start(self.id, self.function, self.value);
}

// How often a timer whose signal is pending has expired since.
Nanos missed(const ProgramTimer& timer) { return (g_sched.now() - timer.due) / timer.interval; }

// 0: disarmed.
void set(ProgramTimer& timer, Nanos first, Nanos interval) {
  timer.timer.fire = on_due;
  timer.interval = interval;
  timer.is_pending = false;
  timer.overruns = 0;
  g_sched.timers.disarm(timer.timer);
  if (first == 0) return;
  g_sched.timers.arm(timer.timer,
                     first > kForever - g_sched.now() ? kForever - 1 : g_sched.now() + first);
  g_sched.look_again();
}

Nanos left_of(const ProgramTimer& timer) {
  if (timer.is_pending) return timer.due + (missed(timer) + 1) * timer.interval - g_sched.now();
  if (timer.timer.deadline == kForever) return 0;
  const Nanos left = timer.timer.deadline - g_sched.now();
  return left > 0 ? left : 1;
}

itimerspec state_of(const ProgramTimer& timer) {
  return {to_timespec(timer.interval), to_timespec(left_of(timer))};
}

long set_by(ProgramTimer& timer, long flags, const itimerspec* wanted, itimerspec* before) {
  if (wanted == nullptr || !is_duration(wanted->it_value) || !is_duration(wanted->it_interval))
    return -EINVAL;
  if (before != nullptr) *before = state_of(timer);
  Nanos first = duration_of(wanted->it_value);
  if (first != 0 && (flags & TIMER_ABSTIME) != 0) {
    first = deadline_of(timer.clock, &wanted->it_value) - g_sched.now();
    if (first <= 0) first = 1;
  }
  set(timer, first, duration_of(wanted->it_interval));
  return 0;
}

Nanos nanos_of(const timeval& t) { return t.tv_sec * 1'000'000'000 + t.tv_usec * 1000; }
timeval to_timeval(Nanos t) { return {t / 1'000'000'000, t % 1'000'000'000 / 1000}; }

ProgramTimer* interval_timer(long which) {
  static constexpr int kSignals[] = {SIGALRM, SIGVTALRM, SIGPROF};
  if (which < 0 || which > 2) return nullptr;
  g_interval_timers[which].signal = kSignals[which];
  return &g_interval_timers[which];
}

long alarm(unsigned seconds) {
  ProgramTimer& timer = *interval_timer(ITIMER_REAL);
  const Nanos left = left_of(timer);
  set(timer, static_cast<Nanos>(seconds) * 1'000'000'000, 0);
  return left == 0 ? 0 : (left + 999'999'999) / 1'000'000'000;
}

long set_interval_timer(long which, const itimerval* wanted, itimerval* before) {
  ProgramTimer* timer = interval_timer(which);
  if (timer == nullptr) return -EINVAL;
  if (before != nullptr) *before = {to_timeval(timer->interval), to_timeval(left_of(*timer))};
  if (wanted == nullptr) return 0;
  const auto bad = [](const timeval& t) {
    return t.tv_sec < 0 || t.tv_usec < 0 || t.tv_usec >= 1'000'000;
  };
  if (bad(wanted->it_value) || bad(wanted->it_interval)) return -EINVAL;
  set(*timer, nanos_of(wanted->it_value), nanos_of(wanted->it_interval));
  return 0;
}

ProgramTimer* new_timer() {
  for (int i = 0; i < kMost; ++i) {
    if (i == g_timers_end) g_timers[g_timers_end++] = arena_new<ProgramTimer>();
    ProgramTimer& timer = *g_timers[i];
    if (timer.used) continue;
    timer = {};
    timer.used = true;
    timer.id = i;
    return &timer;
  }
  return nullptr;
}

ProgramTimer* timer_of(long id) {
  if (id < 0 || id >= g_timers_end) return nullptr;
  ProgramTimer* timer = g_timers[id];
  return timer->used && timer->descriptor < 0 ? timer : nullptr;
}

bool is_valid(const sigevent& event) {
  switch (event.sigev_notify) {
    case SIGEV_NONE:
    case SIGEV_THREAD:  // without a signal: see intercept/timer.cc
      return true;
    case SIGEV_SIGNAL:
    case SIGEV_THREAD_ID:
      return event.sigev_signo >= 1 && event.sigev_signo < NSIG;
    default:
      return false;
  }
}

long create(clockid_t clock, const sigevent* event, int* out) {
  if (!is_known_clock(clock) || (event != nullptr && !is_valid(*event))) return -EINVAL;
  ProgramTimer* timer = new_timer();
  if (timer == nullptr) return -EAGAIN;
  timer->clock = clock;
  timer->signal = SIGALRM;
  timer->value.sival_ptr = nullptr;
  timer->value.sival_int = timer->id;
  if (event != nullptr) {
    const bool signals = event->sigev_notify != SIGEV_NONE && event->sigev_notify != SIGEV_THREAD;
    timer->signal = signals ? event->sigev_signo : 0;
    if (event->sigev_notify == SIGEV_THREAD) timer->function = event->sigev_notify_function;
    timer->value = event->sigev_value;
  }
  *out = timer->id;
  return 0;
}

void remove(ProgramTimer& timer) {
  g_sched.timers.disarm(timer.timer);
  timer = {};
}

ProgramTimer* timer_of_descriptor(long fd) {
  for (int i = 0; i < g_timers_end; ++i)
    if (g_timers[i]->used && g_timers[i]->descriptor == fd) return g_timers[i];
  return nullptr;
}

bool has_timerfd(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM;
}

long create_descriptor(const Call& call) {
  const auto clock = static_cast<clockid_t>(call.a[0]);
  if (!has_timerfd(clock) || (call.a[1] & ~(TFD_NONBLOCK | TFD_CLOEXEC)) != 0) return -EINVAL;
  ProgramTimer* timer = new_timer();
  if (timer == nullptr) return -EMFILE;
  const long flags = ((call.a[1] & TFD_NONBLOCK) != 0 ? EFD_NONBLOCK : 0) |
                     ((call.a[1] & TFD_CLOEXEC) != 0 ? EFD_CLOEXEC : 0);
  const long fd = answered(call, [&] { return raw_syscall(SYS_eventfd2, 0, flags); });
  if (fd < 0) {
    *timer = {};
    return fd;
  }
  timer->descriptor = static_cast<int>(fd);
  timer->clock = clock;
  forget_descriptor(static_cast<int>(fd));
  note_inside(static_cast<int>(fd));
  return fd;
}

long error_of_no_timer(const Call& call) {
  return answered(
      call, [&] { return raw_syscall(SYS_fcntl, call.a[0], F_GETFD) < 0 ? -EBADF : -EINVAL; });
}

// Expirations that have not been read are discarded.
long set_descriptor(const Call& call) {
  constexpr long kFlags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  const auto wanted = *reinterpret_cast<const itimerspec*>(call.a[2]);
  if ((call.a[1] & ~kFlags) != 0 || !is_duration(wanted.it_value) ||
      !is_duration(wanted.it_interval))
    return -EINVAL;
  ProgramTimer* timer = timer_of_descriptor(call.a[0]);
  if (timer == nullptr) return error_of_no_timer(call);
  if (!g_inputs.replaying()) {
    std::uint64_t count = 0;
    pollfd ready{timer->descriptor, POLLIN, 0};
    if (raw_syscall(SYS_poll, reinterpret_cast<long>(&ready), 1, 0) == 1)
      raw_syscall(SYS_read, timer->descriptor, reinterpret_cast<long>(&count), sizeof count);
  }
  return set_by(*timer, (call.a[1] & TFD_TIMER_ABSTIME) != 0 ? TIMER_ABSTIME : 0, &wanted,
                reinterpret_cast<itimerspec*>(call.a[3]));
}

long sleep(clockid_t clock, long flags, const timespec* length, timespec* rest) {
  if (!is_known_clock(clock) || clock == CLOCK_THREAD_CPUTIME_ID || !is_duration(*length))
    return -EINVAL;
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const Nanos t = duration_of(*length);
  const Nanos now = g_sched.now();
  Nanos deadline = absolute             ? deadline_of(clock, length)
                   : t > kForever - now ? kForever - 1
                                        : now + t;
  if (deadline <= now) {
    g_sched.yield_voluntarily();
    return 0;
  }
  Wait wait;
  wait.kind = abi::WaitKind::kSleep;
  const Woke woke = g_sched.block(wait, deadline, kSignalsAlways | kCancel);
  if (woke == Woke::kByTime) return 0;
  if (rest != nullptr && !absolute) {
    const Nanos left = deadline - wait.disturbed;  // without the time that the handler took
    *rest = to_timespec(left > 0 ? left : 0);
  }
  return woke == Woke::kByCancel ? kCancelled : -EINTR;
}

// Reading the clock is not a yield point, but takes time.
Nanos look(clockid_t clock) {
  g_sched.pass_time(g_sched.at_speed(kNanosPerCall));
  const Nanos t = clock_reading(clock);
  g_hash.fold(static_cast<std::uint64_t>(t));
  return t;
}

// The kernel does not know the clocks of the program's threads.
long resolution(const Call& call) {
  const auto clock = static_cast<clockid_t>(call.a[0]);
  if (clock >= 0 || !is_known_clock(clock)) return recorded(call);
  if (call.a[1] != 0) *reinterpret_cast<timespec*>(call.a[1]) = {0, 1};
  return 0;
}

// The kernel knows the time of children.
long processor_times(tms* out) {
  constexpr Nanos kTick = 10'000'000;
  constexpr int kHalf = 32;
  const long ticks = look(CLOCK_MONOTONIC) / kTick;
  if (out == nullptr) return ticks;
  *out = {clock_reading(CLOCK_PROCESS_CPUTIME_ID) / kTick, 0, 0, 0};
  if (!g_other_processes) return ticks;
  const long of_children = answered(Call{SYS_times, {}}, [] {
    tms real{};
    raw_syscall(SYS_times, reinterpret_cast<long>(&real));
    return real.tms_cutime << kHalf | real.tms_cstime;
  });
  out->tms_cutime = of_children >> kHalf;
  out->tms_cstime = of_children & ((1L << kHalf) - 1);
  return ticks;
}

bool may_set_clock() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  raw_syscall(SYS_capget, reinterpret_cast<long>(&header), reinterpret_cast<long>(data));
  return (data[0].effective >> CAP_SYS_TIME & 1) != 0;
}

// The program's own clock: the machine's stays as it is.
long set_clock(const Call& call, Nanos seconds, Nanos nanos) {
  constexpr Nanos kSecond = 1'000'000'000;
  if (seconds < 0 || seconds > kForever / kSecond || nanos < 0 || nanos >= kSecond) return -EINVAL;
  const long error = answered(call, [] { return may_set_clock() ? 0L : long{-EPERM}; });
  if (error == 0) set_real_time(seconds * kSecond + nanos);
  return error;
}

template <class T>
T* pointer(long a) {
  return reinterpret_cast<T*>(a);
}

}  // namespace

void timer_signal_taken(siginfo_t& info) {
  ProgramTimer* timer = nullptr;
  if (info.si_code == SI_TIMER) timer = timer_of(info.si_timerid);
  for (ProgramTimer& each : g_interval_timers)
    if (info.si_code == SI_KERNEL && each.signal == info.si_signo) timer = &each;
  if (timer == nullptr || !timer->is_pending) return;
  const Nanos times = missed(*timer);
  timer->is_pending = false;
  timer->overruns = times < INT_MAX ? static_cast<int>(times) : INT_MAX;
  if (info.si_code == SI_TIMER) info.si_overrun = timer->overruns;
  g_sched.timers.arm(timer->timer, timer->due + (times + 1) * timer->interval);
  g_sched.look_again();
}

bool is_timer_descriptor(int fd) { return fd >= 0 && timer_of_descriptor(fd) != nullptr; }

void close_timer_descriptor(int fd) {
  if (ProgramTimer* timer = timer_of_descriptor(fd)) remove(*timer);
}

void forget_timers() {
  for (ProgramTimer& timer : g_interval_timers) remove(timer);
  for (int i = 0; i < g_timers_end; ++i)
    if (g_timers[i]->used && g_timers[i]->descriptor < 0) remove(*g_timers[i]);
  g_timer_threads.forget();
}

long time_call(const Call& call) {
  const long(&a)[6] = call.a;
  switch (call.number) {
    case SYS_clock_gettime:
      if (!is_known_clock(static_cast<clockid_t>(a[0]))) return -EINVAL;
      *pointer<timespec>(a[1]) = to_timespec(look(static_cast<clockid_t>(a[0])));
      return 0;
    case SYS_clock_getres:
      return resolution(call);
    case SYS_gettimeofday:
      if (a[0] != 0) *pointer<timeval>(a[0]) = to_timeval(look(CLOCK_REALTIME));
      return 0;
    case SYS_time: {
      const long seconds = to_timespec(look(CLOCK_REALTIME)).tv_sec;
      if (a[0] != 0) *pointer<long>(a[0]) = seconds;
      return seconds;
    }
    case SYS_times:
      return processor_times(pointer<tms>(a[0]));
    case SYS_clock_settime: {
      const timespec to = *pointer<timespec>(a[1]);
      return a[0] == CLOCK_REALTIME ? set_clock(call, to.tv_sec, to.tv_nsec) : -EINVAL;
    }
    case SYS_settimeofday: {
      if (a[0] == 0) return 0;  // only a time zone
      const timeval to = *pointer<timeval>(a[0]);
      return set_clock(call, to.tv_sec, to.tv_usec * 1000);
    }
    case SYS_nanosleep:
      return sleep(CLOCK_MONOTONIC, 0, pointer<timespec>(a[0]), pointer<timespec>(a[1]));
    case SYS_clock_nanosleep:
      return sleep(static_cast<clockid_t>(a[0]), a[1], pointer<timespec>(a[2]),
                   pointer<timespec>(a[3]));
    case SYS_alarm:
      return alarm(static_cast<unsigned>(a[0]));
    case SYS_setitimer:
      return set_interval_timer(a[0], pointer<itimerval>(a[1]), pointer<itimerval>(a[2]));
    case SYS_getitimer:
      return a[1] != 0 ? set_interval_timer(a[0], nullptr, pointer<itimerval>(a[1])) : -EFAULT;
    case SYS_timer_create:
      return create(static_cast<clockid_t>(a[0]), pointer<sigevent>(a[1]), pointer<int>(a[2]));
    case SYS_timer_settime:
      return timer_of(a[0]) != nullptr ? set_by(*timer_of(a[0]), a[1], pointer<itimerspec>(a[2]),
                                                pointer<itimerspec>(a[3]))
                                       : -EINVAL;
    case SYS_timer_gettime:
      if (timer_of(a[0]) == nullptr) return -EINVAL;
      *pointer<itimerspec>(a[1]) = state_of(*timer_of(a[0]));
      return 0;
    case SYS_timer_getoverrun:
      return timer_of(a[0]) != nullptr ? timer_of(a[0])->overruns : -EINVAL;
    case SYS_timer_delete:
      if (timer_of(a[0]) == nullptr) return -EINVAL;
      remove(*timer_of(a[0]));
      return 0;
    case SYS_timerfd_create:
      return create_descriptor(call);
    case SYS_timerfd_settime:
      return set_descriptor(call);
    case SYS_timerfd_gettime:
      if (timer_of_descriptor(a[0]) == nullptr) return error_of_no_timer(call);
      *pointer<itimerspec>(a[1]) = state_of(*timer_of_descriptor(a[0]));
      return 0;
    default:
      return -ENOSYS;
  }
}

}  // namespace clew::rt
