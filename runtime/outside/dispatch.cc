#include "runtime/outside/dispatch.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/fiber/signal_stack.h"
#include "runtime/intercept/init.h"
#include "runtime/outside/perform.h"
#include "runtime/outside/system_call.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/crash.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/internal.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

namespace clew::rt {

namespace {

constexpr char kAllowed = 0;  // SYSCALL_DISPATCH_FILTER_ALLOW
constexpr char kCaught = 1;   // SYSCALL_DISPATCH_FILTER_BLOCK

volatile char g_selector = kAllowed;
bool g_on = false;
bool g_over = false;
bool g_only_randomness = false;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool has(std::uintptr_t address) const { return address >= begin && address < end; }
};
Range g_loader;
// libc's functions for its own use that are no cancellation points.
Range g_without_cancel[5];

// All segments of the object that begins with this header.
Range range_of(std::uintptr_t base) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  Range range{base, base};
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD) continue;
    const std::uintptr_t end = base + segments[i].p_vaddr + segments[i].p_memsz;
    if (end > range.end) range.end = end;
  }
  return range;
}

void on_system_call(int signal, siginfo_t* info, void* context) {
  if (info->si_code <= 0 && g_sched.active) {  // another process has sent it
    if (has_handler(signal)) return note_arrived(*info);
    if (action_of(signal).handler != reinterpret_cast<void*>(SIG_IGN)) die_of(signal, *info);
    return;
  }
  auto& caught = *static_cast<ucontext_t*>(context);
  auto& registers = caught.uc_mcontext.gregs;
  Call call{registers[REG_RAX],
            {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10],
             registers[REG_R8], registers[REG_R9]}};
  const auto code = static_cast<std::uintptr_t>(registers[REG_RIP]);
  // The dynamic linker loads code, which a replay needs as well.
  if (!g_sched.active || g_loader.has(code)) {
    if (g_only_randomness && call.number == SYS_getrandom) {
      random_bytes(reinterpret_cast<void*>(call.a[0]), static_cast<std::size_t>(call.a[1]));
      registers[REG_RAX] = call.a[1];
      return;
    }
    registers[REG_RAX] = g_over && call.number == SYS_getpid ? g_sched.process : to_kernel(call);
    return;
  }
  call.caught = &caught;
  registers[REG_RAX] = system_call(call);
}

void find_functions_without_cancel() {
  static constexpr const char* kNames[] = {"__open64_nocancel", "__close_nocancel",
                                           "__read_nocancel", "__pread64_nocancel",
                                           "__write_nocancel"};
  std::size_t count = 0;
  for (const char* name : kNames) {
    void* function = dlvsym(RTLD_DEFAULT, name, "GLIBC_PRIVATE");
    Dl_info object;
    void* symbol = nullptr;
    if (function == nullptr || dladdr1(function, &object, &symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == nullptr)
      continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(function);
    g_without_cancel[count++] = {begin, begin + static_cast<const ElfW(Sym)*>(symbol)->st_size};
  }
}

bool switch_on() {
  const Range ours = range_of(reinterpret_cast<std::uintptr_t>(&__ehdr_start));
  return raw_syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
                     static_cast<long>(ours.begin), static_cast<long>(ours.end - ours.begin),
                     reinterpret_cast<long>(&g_selector)) == 0;
}

}  // namespace

bool catch_system_calls() {
  g_loader = range_of(getauxval(AT_BASE));
  find_functions_without_cancel();
  install_handler(SIGSYS, on_system_call, SA_NODEFER);
  g_on = switch_on();
  if (g_on) g_selector = kCaught;
  return g_on;
}

OnlyRandomness::OnlyRandomness() {
  g_only_randomness = true;
  install_handler(SIGSYS, on_system_call, SA_NODEFER);
  if (switch_on()) g_selector = kCaught;
}

OnlyRandomness::~OnlyRandomness() {
  g_only_randomness = false;
  g_selector = kAllowed;
  const Action plain{};
  raw_syscall(SYS_rt_sigaction, SIGSYS, reinterpret_cast<long>(&plain), 0, sizeof plain.mask);
}

bool catches_system_calls() { return g_on; }

bool is_without_cancel(const Call& call) {
  if (call.caught == nullptr) return false;
  const auto code = static_cast<std::uintptr_t>(call.caught->uc_mcontext.gregs[REG_RIP]);
  for (const Range& range : g_without_cancel)
    if (range.has(code)) return true;
  return false;
}

void catch_system_calls_again() {
  if (g_on) switch_on();
}

void catch_system_calls_no_more() { g_selector = kAllowed; }

void leave_calls_to_kernel() {
  g_sched.active = false;
  clew_own_top = 0;
  g_over = true;
}

Uncaught::Uncaught() : before_(g_selector) { g_selector = kAllowed; }
Uncaught::~Uncaught() { g_selector = before_; }

}  // namespace clew::rt
