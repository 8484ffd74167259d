// Where the runtime takes over: before the program's first constructor.
#include "runtime/intercept/init.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "clew_abi/control.h"
#include "clew_abi/findings.h"
#include "runtime/detect/plug_in.h"
#include "runtime/fiber/context.h"
#include "runtime/intercept/early.h"
#include "runtime/intercept/heap_hooks.h"
#include "runtime/intercept/sanitizer.h"
#include "runtime/intercept/surroundings.h"
#include "runtime/intercept/thread.h"
#include "runtime/intercept/timer.h"
#include "runtime/keep.h"
#include "runtime/layout/layout.h"
#include "runtime/libc/heap.h"
#include "runtime/libc/real.h"
#include "runtime/libc/redirect.h"
#include "runtime/libc/refused.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/outside/file_times.h"
#include "runtime/outside/poller.h"
#include "runtime/outside/randomness.h"
#include "runtime/outside/unrecorded.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/adoption.h"
#include "runtime/record/callbacks.h"
#include "runtime/record/debug_table.h"
#include "runtime/record/end.h"
#include "runtime/record/job.h"
#include "runtime/record/log.h"
#include "runtime/record/points.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/callbacks.h"
#include "runtime/signal/faults.h"
#include "runtime/signal/signals.h"
#include "runtime/snapshot/server.h"
#include "runtime/sync/models.h"
#include "runtime/syscall/copy.h"
#include "runtime/syscall/dispatch.h"
#include "runtime/syscall/families.h"
#include "runtime/syscall/system_call.h"
#include "runtime/syscall/timers.h"
#include "runtime/thread/life.h"
#include "runtime/thread/thread_block.h"
#include "runtime/time/deadline.h"
#include "runtime/translate/translate.h"

using namespace clew;
using namespace clew::rt;

extern "C" {
// Called by the stubs of refused functions.
[[noreturn]] void clew_refuse(const char* name) {
  char what[64];
  snprintf(what, sizeof what, "%s()", name);
  end_unsupported(what);
}
}

namespace {

constexpr int kCannotAttach = 127;

[[noreturn]] void cannot_attach(const char* why) {
  char text[256];
  const int n = snprintf(text, sizeof text, "clew: cannot take over the program: %s\n", why);
  raw_syscall(SYS_write, 2, reinterpret_cast<long>(text), n);
  raw_syscall(SYS_exit_group, kCannotAttach);
  __builtin_unreachable();
}

template <class T>
T field_of_control(int fd, std::size_t offset) {
  T value{};
  raw_syscall(SYS_pread64, fd, reinterpret_cast<long>(&value), sizeof value,
              static_cast<long>(offset));
  return value;
}

// Whether the addresses are random and the host wants them fixed.
bool is_to_be_loaded_again(int fd) {
  const auto flags = field_of_control<std::uint32_t>(fd, offsetof(abi::Control, flags));
  return (flags & abi::kFlagLoadAgain) != 0 && !is_loaded_again();
}

void restore_stack_limit(int fd) {
  const auto wanted = field_of_control<std::uint64_t>(fd, offsetof(abi::Control, stack_limit));
  rlimit limit{};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<long>(&limit));
  limit.rlim_cur = wanted == UINT64_MAX ? RLIM_INFINITY : wanted;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, reinterpret_cast<long>(&limit), 0);
}

// Returns if it cannot be done; `value` is that of the variable that names the control memory.
const char* load_program_again(int count, char** arguments, char** environment, const char* value,
                               int fd) {
  char text[abi::kControlDigits + 1];
  snprintf(text, sizeof text, "%0*d", abi::kControlDigits, fd);
  restore_stack_limit(fd);
  return load_again({count, arguments, environment, value, text});
}

abi::Control* map_control(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) cannot_attach("the control memory is not there");
  void* address = reinterpret_cast<void*>(abi::kControlAddress);
  void* got = mmap(address, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
  if (got != address) cannot_attach("its memory cannot be mapped");
  raw_syscall(SYS_close, fd);
  auto* control = static_cast<abi::Control*>(got);
  if (control->magic != abi::kControlMagic || control->version != abi::kVersion ||
      control->size_of_control != sizeof(abi::Control))
    cannot_attach("it was built with another version of clew; rebuild it");
  return control;
}

void wait_for_debugger(abi::Control& control) {
  while (control.debugger_ready.load(std::memory_order_acquire) == 0) {
    const timespec nap{0, 500'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&nap), 0);
  }
  debug_begin();
  debug_stop(abi::DebugStop::kStarted);
}

// Called by exit() after everything else: it was registered first.
void end_job_at_exit(int status, void*) {
  if (!running_job()) return;
  report_exit(status);
  fflush(nullptr);
  finish_job(abi::JobEnd::kExited, status & 0xff, g_sched.clock());
}

int (*g_main)(int, char**, char**) = nullptr;

// Entries and returns of functions are told by translated code.
void translate_for_plug_ins() {
  auto& control = *reinterpret_cast<abi::Control*>(abi::kControlAddress);
  if (!plug_ins_want_functions()) return;
  if ((control.flags & abi::kFlagTranslateIfAsked) != 0) return begin_translating(control);
  control.lacks.fetch_or(abi::kLacksFunctions, std::memory_order_relaxed);
  g_log.note("a listener asks for functions, which are told by clew run and clew replay alone");
}

// Not earlier: a library needs libc, whose constructor follows the runtime's.
void start_plug_ins() {
  const auto& settings = *reinterpret_cast<const abi::Control*>(abi::kControlAddress);
  if (CLEW_LIKELY(settings.listeners.size == 0)) return;
  clew_call_on_own_stack([] {
    load_plug_ins(*reinterpret_cast<const abi::Control*>(abi::kControlAddress));
    add_plug_ins();
    if (g_listeners.hears_of(kTopicMemory)) hook_heap();
    g_sched.listen_again();
    translate_for_plug_ins();
  });
}

// What the runtime has left below on the first thread's stack before main is not the same when a run is
// recorded and when it is replayed, and the program can see it.
[[gnu::noinline]] void clear_below() {
  constexpr std::size_t kRoom = std::size_t{32} << 10;
  volatile unsigned char room[kRoom];
  for (volatile unsigned char& byte : room) byte = 0;
}

int main_of_program(int count, char** arguments, char** environment) {
  if (g_sched.active) start_plug_ins();
  if (g_sched.active) reach_main();
  debug_stop(abi::DebugStop::kMain);
  clear_below();
  const int status = static_cast<int>(clew_call_function(reinterpret_cast<void*>(g_main), count,
                                                         reinterpret_cast<long>(arguments),
                                                         reinterpret_cast<long>(environment)));
  g_exit_status = status;
  if (g_sched.active) g_sched.before_exit();
  return status;
}

// What a translated run writes down when the runtime returns to the program.
abi::ReturnMark mark_of_return() {
  const EventClock::Parts clock = g_sched.clock_parts();
  const Fiber& fiber = *g_sched.current;
  return {.mark = abi::kReturnMark,
          .thread = static_cast<std::uint32_t>(fiber.index),
          .limit =
              *static_cast<const bool*>(clock.counts) ? *static_cast<const Clock*>(clock.limit) : 0,
          .clock = g_sched.clock(),
          .countdown = reinterpret_cast<std::uint64_t>(fiber.countdown),
          .call_site = reinterpret_cast<std::uint64_t>(fiber.call_site)};
}

// Fills in what folders need of later ones. See README.md for their order.
void connect_folders() {
  g_no_room_to_keep = [] { end_unsupported("so little address space (ulimit -v)"); };
  g_record_callbacks = {keep_copy, tell_unrecorded, leave_mutexes_to_others, end_job};
  g_thread_life = {run_thread, unwind_thread};
  g_signal_callbacks = {[] { g_poller.expect_signals(); }, most_pending_signals,
                        timer_signal_taken};
  g_timer_threads = {start_thread_for_timer, forget_thread_for_timers};
  g_translation_callbacks = {mark_of_return, tell_function};
}

void note_moving_addresses(abi::Control& control, const char* why) {
  char line[256];
  snprintf(line, sizeof line, "addresses differ from run to run, and so may the program: %s", why);
  g_log.note(line);
  control.lacks.fetch_or(abi::kLacksFixedAddresses, std::memory_order_relaxed);
}

// `moving`: why addresses differ from run to run; null: they do not.
void take_over(abi::Control& control, const char* moving) {
  connect_folders();
  init_context();
  // All threads run on one kernel thread: arenas of their own would only cost mappings.
  mallopt(M_ARENA_MAX, 1);
  set_epoch(control.epoch_ns);
  g_log.init(control);
  resolve_thread_end();
  Fiber* main_fiber = adopt_main_thread();
  g_sched.init(control, surroundings(), *main_fiber);
  begin_file_times(control.epoch_ns, (control.flags & abi::kFlagServe) != 0 ? AfterJumps::kDoNotWait
                                                                            : AfterJumps::kWait);
  report_registered_points();
  find_allocator();
  watch_sanitizers(*main_fiber);
  install_fault_handlers();
  system_calls_init(control);
  inherit_signals(control, *main_fiber);
  install_terminate_handler();
  if (control.flags & abi::kFlagLineBuffered) setvbuf(stdout, nullptr, _IOLBF, 0);
  if (control.flags & abi::kFlagServe) on_exit(end_job_at_exit, nullptr);
  if ((control.flags & abi::kFlagServe) && user_dispatch_is_on()) redirect_write();
  if (moving != nullptr) note_moving_addresses(control, moving);
  // Nothing of it is left on the program's stack.
  if ((control.flags & abi::kFlagTranslateIfAsked) == 0)
    clew_call_on_own_stack(
        [] { begin_translating(*reinterpret_cast<abi::Control*>(abi::kControlAddress)); });
  clew_in_charge = 1;
  control.attached.store(1, std::memory_order_release);
  if (control.flags & abi::kFlagWaitDebugger) wait_for_debugger(control);
}

char** variable(const char* name) { return entry_of(environ, name); }

void remove_variable(const char* name) {
  while (char** entry = variable(name))
    for (; *entry != nullptr; ++entry) *entry = entry[1];
}

// A program that was not built with clew gets this library by LD_PRELOAD, as the first; the
// programs that it starts do not.
void restore_preload() {
  if (variable(abi::kPreloadVariable) == nullptr) return;
  remove_variable(abi::kPreloadVariable);
  char** entry = variable("LD_PRELOAD");
  if (entry == nullptr) return;
  char* const value = strchr(*entry, '=') + 1;
  char* const rest = strchr(value, ':');
  if (rest != nullptr && rest[1] != '\0') {
    memmove(value, rest + 1, strlen(rest + 1) + 1);
  } else {
    remove_variable("LD_PRELOAD");
  }
}

// libc's allocator marks freed memory with a random number. An allocator of the program's own
// (jemalloc) sets itself up in its first call, which libc may make while clew is about to take
// over.
void set_up_allocator() {
  const OnlyRandomness caught;
  void* volatile memory = malloc(1);
  free(memory);
}

void begin(int count, char** arguments, char** environment) {
  // A program that has more rights than its caller (set-user-ID) must not obey its caller's
  // environment: whoever owns the control memory decides what the program does.
  if (getauxval(AT_SECURE) != 0) return;
  char** const control = variable(abi::kControlVariable);
  if (control == nullptr) return;
  char* const value = strchr(*control, '=') + 1;
  const bool is_child = strcmp(value, abi::kAskParent) == 0;
  const int fd = is_child ? ask_ancestors_for_control() : atoi(value);
  if (fd < 0) return;
  const char* moving = nullptr;
  if (is_to_be_loaded_again(fd))
    moving = load_program_again(count, arguments, environment, value, fd);
  else if (is_loaded_again())
    moving = why_addresses_move();
  if (strlen(value) == abi::kControlDigits) memcpy(value, abi::kAskParent, abi::kControlDigits);
  restore_preload();
  abi::Control& settings = *map_control(fd);
  seed_random(settings.seed);
  set_up_allocator();
  take_over(settings, moving);
}

// The first constructor of all (-z initfirst): that of libc, which knows the environment, is still
// to come.
__attribute__((constructor(101))) void start(int count, char** arguments, char** environment) {
  if (environ == nullptr) environ = environment;
  real::resolve();
  leave_starter();
  begin(count, arguments, environment);
  take_over_is_decided();
}

// Runs after the destructors of everything that depends on the runtime. Others follow, which may
// wait for threads (libomp): if the system call by which the process ends is caught, the run ends
// there.
__attribute__((destructor(101))) void finish() {
  if (g_sched.active && !user_dispatch_is_on()) report_exit(g_exit_status);
}

}  // namespace

// The C library's own entry, called by the program's start code: main is wrapped.
CLEW_EXPORT int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                                  void (*init)(), void (*fini)(), void (*loader_fini)(),
                                  void* stack_end) {
  using Start =
      int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto real_start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  g_main = main;
  return real_start(main_of_program, count, arguments, init, fini, loader_fini, stack_end);
}
