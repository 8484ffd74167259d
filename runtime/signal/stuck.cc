#include "runtime/signal/stuck.h"

#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "runtime/detect/plug_in.h"
#include "runtime/fiber/signal_stack.h"
#include "runtime/keep.h"
#include "runtime/libc/real.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/log.h"
#include "runtime/record/points.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/signals.h"
#include "runtime/translate/translate.h"

namespace clew::rt {
namespace {

constexpr long kTickNanos = 50'000'000;
constexpr long kTickNanosOnceStuck = 500'000;
// The kernel looks at timers of processor time a few hundred times a second only. So a thread that was
// found waiting is followed by a few ticks of real time, ever further apart: where threads wait for a
// lock in turn, the next one waits soon.
constexpr long kFirstFollowingTick = 50'000;
constexpr long kLastFollowingTick = 3'000'000;
// Ticks of processor time without a point before a thread counts as stuck. Work that takes as long
// between two calls is rare, and is only preempted. Where a thread was stuck once, one tick is
// enough, and ticks come more often.
constexpr unsigned kLong = 60;
constexpr unsigned kShort = 1;
// Processor time without a point, call or switch after which it is said that nothing happens.
constexpr Nanos kVeryLong = 60'000'000'000;
// Processor time of one call of a listener: as long as a program may sleep in the kernel
// (host/target/watchdog.h).
constexpr Nanos kLongInPlugIn = 5'000'000'000;

struct Module {
  std::uintptr_t begin, end;
  bool left_alone;  // a thread is not preempted in there
};
Module g_nameless{0, 0, false};  // code of no module: the program generated it
constexpr unsigned kMost = 512;
Module g_modules[kMost];
unsigned g_count = 0;

Clock g_last_clock = 0;
std::uint64_t g_last_switches = 0;
unsigned g_ticks = 0;
Nanos g_nothing_since = 0;  // processor time
Nanos g_last_tick = 0;      // processor time
Nanos g_spent = 0;          // processor time without a point that virtual time has not made up for
bool g_told = false;
bool g_told_nothing_happens = false;

Nanos processor_time() {
  timespec t;
  raw_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, reinterpret_cast<long>(&t));
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// The registers at the last ticks without a point. A loop that computes has something that counts in
// them; one that waits is found again in the very state that it was in.
class States {
 public:
  void clear() { count_ = repeated_ = 0; }
  void add(const gregset_t& registers) {
    std::uint64_t state = 0;
    for (int i = REG_R8; i <= REG_RIP; ++i)
      state = (state ^ static_cast<std::uint64_t>(registers[i])) * 0x9e3779b97f4a7c15;
    for (unsigned i = 0; i < count_ && i < kMostKept; ++i)
      if (kept_[i] == state) {
        ++repeated_;
        return;
      }
    kept_[count_++ % kMostKept] = state;
  }
  bool show_waiting() const { return repeated_ >= kEnough; }

 private:
  static constexpr unsigned kMostKept = 16;
  static constexpr unsigned kEnough = 3;
  std::uint64_t kept_[kMostKept] = {};
  unsigned count_ = 0;
  unsigned repeated_ = 0;
};
constinit States g_states;

constexpr int kFollowing = 1;  // which timer a signal is of

int g_timer = -1;
int g_following_timer = -1;  // of real time
long g_following_tick = kFirstFollowingTick;
void set_interval(long nanoseconds) {
  const itimerspec every{{0, nanoseconds}, {0, nanoseconds}};
  raw_syscall(SYS_timer_settime, g_timer, 0, reinterpret_cast<long>(&every), 0);
}
void follow_after(long nanoseconds) {
  g_following_tick = nanoseconds;
  const itimerspec once{{0, 0}, {0, nanoseconds}};
  raw_syscall(SYS_timer_settime, g_following_timer, 0, reinterpret_cast<long>(&once), 0);
}

int add_module(dl_phdr_info* info, std::size_t, void*) {
  Module module{~std::uintptr_t{0}, 0, false};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    const std::uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;
    if (begin < module.begin) module.begin = begin;
    if (end > module.end) module.end = end;
  }
  const auto inside = [&](std::uintptr_t address) {
    return address >= module.begin && address < module.end;
  };
  // The runtime, libc and the dynamic linker are left alone.
  module.left_alone = inside(reinterpret_cast<std::uintptr_t>(&g_modules)) ||
                      inside(reinterpret_cast<std::uintptr_t>(CLEW_REAL(read))) ||
                      inside(getauxval(AT_BASE)) || inside(getauxval(AT_SYSINFO_EHDR));
  if (g_count == kMost) return 0;
  for (unsigned i = 0; i < g_count; ++i)
    if (g_modules[i].begin == module.begin && g_modules[i].end == module.end) return 0;
  g_modules[g_count++] = module;
  return 0;
}

const Module* module_of(std::uintptr_t code) {
  for (unsigned i = 0; i < g_count; ++i)
    if (code >= g_modules[i].begin && code < g_modules[i].end) return &g_modules[i];
  return g_count < kMost ? &g_nameless : nullptr;
}

bool counts_points(const Module& module) {
  return &module != &g_nameless && has_points(module.begin, module.end);
}

// Where threads were found waiting, in this run or in one before it: to find that out takes longer
// than most runs do.
auto& places() {
  static constinit std::uintptr_t of_this_run[sizeof(Kept::spins_at) / sizeof(std::uintptr_t)] = {};
  return keep_ready ? kept().spins_at : of_this_run;
}

// What lies near is the same loop.
bool spins_near(std::uintptr_t code) {
  constexpr std::uintptr_t kLoop = 64;
  for (const std::uintptr_t known : places())
    if (known != 0 && code + kLoop >= known && code <= known + kLoop) return true;
  return false;
}

void remember_spinning(std::uintptr_t code) {
  if (spins_near(code)) return;
  for (std::uintptr_t& known : places())
    if (known == 0) {
      known = code;
      return;
    }
}

// Whether a thread that is found there has been there for long enough to be preempted. An object that
// was not built with clew may be part of a module that was: in that module only a thread that is seen
// to wait is preempted, since it may also be about to pass a point.
bool is_stuck(const Module& module, std::uintptr_t code) {
  if (g_states.show_waiting()) return true;
  if (spins_near(code)) return g_ticks >= kShort;
  return g_ticks >= kLong && !counts_points(module);
}

// It may be a long computation, so the run is not ended.
void tell_that_nothing_happens() {
  if (g_told_nothing_happens) return;
  g_told_nothing_happens = true;
  g_log.note(
      "a thread has run for a minute of processor time in code that was not built with clew, "
      "without a call, while no other thread is runnable and no timer is set: if it waits for "
      "something, it will wait forever");
}

// It was found waiting: the others run, if any can.
void hand_on_from(std::uintptr_t code) {
  g_ticks = 0;
  g_states.clear();
  g_nothing_since = processor_time();
  if (!spins_near(code)) set_interval(kTickNanosOnceStuck);
  remember_spinning(code);
  if (!g_told)
    g_log.note(
        "a thread spins in code that was not built with clew: it was preempted by real time, "
        "and a replay may depart");
  g_told = true;
  follow_after(kFirstFollowingTick);
  const std::uint64_t none = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&none), 0, sizeof none);
  // Being preempted does not count as progress: time must pass for sleepers while several threads
  // spin.
  if (g_sched.others_can_run()) ++g_last_switches;
  g_sched.hand_on();
}

// A tick soon after a thread was found waiting.
void on_following_tick(std::uintptr_t code) {
  Nanos nothing = 0;
  if (spins_near(code) && g_sched.has_to_hand_on(nothing)) return hand_on_from(code);
  if (g_following_tick < kLastFollowingTick) follow_after(2 * g_following_tick);
}

// A listener that computes for so long in one call has gone astray.
void look_at_plug_in() {
  static std::uint64_t calls = 0;
  static Nanos since = 0;
  const Nanos now = processor_time();
  if (calls != plug_in_calls()) since = now;
  calls = plug_in_calls();
  if (now - since < kLongInPlugIn) return;
  const std::uint64_t none = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&none), 0, sizeof none);
  end_hanging_plug_in();
}

void on_tick(int, siginfo_t* info, void* context) {
  if (CLEW_UNLIKELY(running_plug_in() != nullptr)) return look_at_plug_in();
  if (!g_sched.active || g_sched.current->no_yield != 0) return;
  if (info->si_code == SI_TIMER && info->si_value.sival_int == kFollowing) {
    const auto& found = *static_cast<const ucontext_t*>(context);
    if (!is_translated(found))
      on_following_tick(static_cast<std::uintptr_t>(found.uc_mcontext.gregs[REG_RIP]));
    return;
  }
  const Clock now = g_sched.clock();
  const bool moved = now != g_last_clock || g_sched.counts.switches != g_last_switches;
  g_last_clock = now;
  g_last_switches = g_sched.counts.switches;
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  if (is_translated(interrupted)) return;
  const auto code = static_cast<std::uintptr_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
  const Module* module = module_of(code);
  const Nanos spent_by_now = processor_time();
  const Nanos since_last = spent_by_now - g_last_tick;
  g_last_tick = spent_by_now;
  if (moved) {
    g_nothing_since = spent_by_now;
    g_ticks = 0;
    g_states.clear();
    return;
  }
  g_spent += since_last;
  g_states.add(interrupted.uc_mcontext.gregs);
  // In libc the thread may hold a lock: it is preempted in the code that called libc.
  ++g_ticks;
  if (module == nullptr || module->left_alone || !is_stuck(*module, code)) return;
  if (!g_sched.has_to_hand_on(g_spent)) {
    if (spent_by_now - g_nothing_since >= kVeryLong) tell_that_nothing_happens();
    return;
  }
  hand_on_from(code);
}

int new_timer(clockid_t clock, int which) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = kStuckSignal;
  event.sigev_value.sival_int = which;
  int timer = 0;
  const long made = raw_syscall(SYS_timer_create, clock, reinterpret_cast<long>(&event),
                                reinterpret_cast<long>(&timer));
  return made == 0 ? timer : -1;
}

// Both now: what is made in a run is not taken back with it.
void start_timer() {
  g_timer = new_timer(CLOCK_THREAD_CPUTIME_ID, 0);
  g_following_timer = new_timer(CLOCK_MONOTONIC, kFollowing);
  if (g_timer < 0) return;
  set_interval(places()[0] != 0 ? kTickNanosOnceStuck : kTickNanos);
}

}  // namespace

void watch_for_stuck_threads() {
  note_loaded_code();
  install_handler(kStuckSignal, on_tick, SA_RESTART, ~bit_of(SIGSYS));
  start_timer();
}

void watch_for_stuck_threads_again() { start_timer(); }

void watch_for_stuck_threads_no_more() {
  raw_syscall(SYS_timer_delete, g_timer);
  raw_syscall(SYS_timer_delete, g_following_timer);
  g_timer = g_following_timer = -1;
}

bool is_without_points(const void* code) {
  const Module* module = module_of(reinterpret_cast<std::uintptr_t>(code));
  return module != nullptr && !module->left_alone && !counts_points(*module);
}

void note_loaded_code() { dl_iterate_phdr(add_module, nullptr); }

}  // namespace clew::rt
