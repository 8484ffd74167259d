#include "runtime/syscall/dispatch.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "runtime/detect/plug_in.h"
#include "runtime/fiber/signal_stack.h"
#include "runtime/layout/layout.h"
#include "runtime/libc/code_range.h"
#include "runtime/libc/user_dispatch.h"
#include "runtime/outside/perform.h"
#include "runtime/outside/randomness.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/crash.h"
#include "runtime/sched/active.h"
#include "runtime/signal/signals.h"
#include "runtime/snapshot/new_descriptors.h"
#include "runtime/syscall/system_call.h"
#include "runtime/thread/in_place.h"

namespace clew::rt {

namespace {

bool g_over = false;
bool g_only_randomness = false;

CodeRange g_loader;
LoadedFiles g_loaded;  // of an imported recording
// Functions that libc uses internally and that are not cancellation points.
CodeRange g_without_cancel[5];

bool ends_process(const Call& call) {
  switch (call.number) {
    case SYS_exit:
    case SYS_exit_group:
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
      return true;
    default:
      return false;
  }
}

// A listener's library, and what it allocates, lies where the program would not.
void place_mapping(Call& call) {
  if (call.number != SYS_mmap || call.a[0] != 0) return;
  const std::uintptr_t place = place_for_plug_in(static_cast<std::uint64_t>(call.a[1]));
  if (place != 0) call.a[0] = static_cast<long>(place);
}

void on_system_call(int signal, siginfo_t* info, void* context) {
  if (info->si_code <= 0 && g_sched.active) {  // another process has sent it
    if (has_handler(signal)) return note_arrived(*info);
    if (action_of(signal).handler != reinterpret_cast<void*>(SIG_IGN)) die_of(signal, *info);
    return;
  }
  auto& caught = *static_cast<ucontext_t*>(context);
  auto& registers = caught.uc_mcontext.gregs;
  if (CLEW_UNLIKELY(answer_in_place(registers))) return;
  Call call{registers[REG_RAX],
            {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10],
             registers[REG_R8], registers[REG_R9]}};
  const auto code = static_cast<std::uintptr_t>(registers[REG_RIP]);
  // The dynamic linker loads code, which a replay needs as well.
  if (!g_sched.active || g_loader.has(code)) {
    note_descriptors(call);
    if (g_only_randomness && call.number == SYS_getrandom) {
      random_bytes(reinterpret_cast<void*>(call.a[0]), static_cast<std::size_t>(call.a[1]));
      registers[REG_RAX] = call.a[1];
      return;
    }
    if (ends_process(call) && running_plug_in() != nullptr) end_crashed_plug_in();
    place_mapping(call);
    const auto make = [&] {
      return g_over && call.number == SYS_getpid ? static_cast<long>(g_sched.process)
                                                 : to_kernel(call);
    };
    const bool loads = g_loader.has(code) && !g_loaded.files.empty();
    registers[REG_RAX] = loads ? g_loaded.answer(call.number, call.a, make) : make();
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

}  // namespace

bool catch_system_calls() {
  g_loader = range_of_object(getauxval(AT_BASE));
  g_loaded = loaded_files();
  find_functions_without_cancel();
  install_handler(SIGSYS, on_system_call, SA_NODEFER);
  return begin_user_dispatch();
}

OnlyRandomness::OnlyRandomness() {
  g_only_randomness = true;
  install_handler(SIGSYS, on_system_call, SA_NODEFER);
  begin_user_dispatch();
}

OnlyRandomness::~OnlyRandomness() {
  g_only_randomness = false;
  end_user_dispatch();
  const Action plain{};
  raw_syscall(SYS_rt_sigaction, SIGSYS, reinterpret_cast<long>(&plain), 0, sizeof plain.mask);
}

bool is_without_cancel(const Call& call) {
  if (call.caught == nullptr) return false;
  const auto code = static_cast<std::uintptr_t>(call.caught->uc_mcontext.gregs[REG_RIP]);
  for (const CodeRange& range : g_without_cancel)
    if (range.has(code)) return true;
  return false;
}

void leave_calls_to_kernel() {
  leave_duty();
  g_over = true;
}

}  // namespace clew::rt
