// Programs built with AddressSanitizer or UndefinedBehaviorSanitizer: what they find is how the run
// ends.
//
// There is nothing to tell ASan about switches. It knows a thread by its thread-local storage,
// which a switch takes along, and its own pthread_create, which is in the program, calls ours: each
// fiber has an AsanThread with the bounds of its stack and a fake stack of its own.
// __sanitizer_start_switch_fiber, for fibers that share one thread, would give one the bounds of
// another.
#include "runtime/intercept/sanitizer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "clew_abi/sanitizer.h"
#include "runtime/libc/refused.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/end.h"
#include "runtime/record/job.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/signals.h"
#include "runtime/syscall/dispatch.h"
#include "runtime/time/time_stamp.h"

// The stubs of what sanitizer_heap.cc has: what the sanitizer's allocator does behind them is translated, too,
// in a run that is (translate/translate.h).
extern "C" {
void clew_sanitizer_allocated(const volatile void* memory, std::size_t size);
void clew_sanitizer_frees(const volatile void* memory);
}

namespace clew::rt {
namespace {

constexpr int kStatus = 1;  // the sanitizers' own
constexpr int kJobStatus = 122;
bool g_reported = false;

template <class F>
F lookup(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

// The run is over here; what the sanitizer still prints is not part of it. A check, like a fault,
// can lie between points that are counted together.
void end_run(const char* detail, const char* file, std::uint32_t line) {
  g_reported = true;
  const Clock clock = g_sched.last_certain_clock();
  report_failure(abi::FailureKind::kSanitizer, detail, file, line);
  report_end(clock);
  if (running_job()) finish_job(abi::JobEnd::kFailed, kJobStatus, clock);
  leave_calls_to_kernel();
  enable_time_stamp();  // for the symbolizer, another program
}

[[noreturn]] void leave() {
  report_status(kStatus << 8);
  raw_syscall(SYS_exit_group, kStatus);
  __builtin_unreachable();
}

void describe_asan(char* out, std::size_t size) {
  const auto description = lookup<const char* (*)()>("__asan_get_report_description");
  const auto is_write = lookup<int (*)()>("__asan_get_report_access_type");
  const auto access_size = lookup<std::size_t (*)()>("__asan_get_report_access_size");
  const char* what = description != nullptr ? description() : "error";
  const std::size_t bytes = access_size != nullptr ? access_size() : 0;
  if (bytes == 0 || is_write == nullptr) {
    snprintf(out, size, "AddressSanitizer: %s", what);
  } else {
    snprintf(out, size, "AddressSanitizer: %s, %s of size %zu", what,
             is_write() != 0 ? "write" : "read", bytes);
  }
}

// The report has been printed. In a program without sanitizer_hooks.c this is the first call about
// it. ASan would continue in a program that is built to (-fsanitize-recover=address).
void on_asan_report(const char*) {
  __clew_asan_error();
  if (g_reported) leave();
}

}  // namespace

void watch_sanitizers(Fiber& main) {
  if (dlsym(RTLD_DEFAULT, "__asan_init") == nullptr) return;
  adopt_handlers(main);
  using Callback = void (*)(const char*);
  if (auto* set = lookup<void (*)(Callback)>("__asan_set_error_report_callback"))
    set(on_asan_report);
  using Install =
      int (*)(void (*)(const volatile void*, std::size_t), void (*)(const volatile void*));
  auto* install = lookup<Install>("__sanitizer_install_malloc_and_free_hooks");
  if (install != nullptr) install(clew_sanitizer_allocated, clew_sanitizer_frees);
}

}  // namespace clew::rt

using namespace clew::rt;

CLEW_EXPORT void __clew_asan_error() {
  if (!g_sched.active) return;
  char detail[200];
  describe_asan(detail, sizeof detail);
  end_run(detail, nullptr, 0);
}

// The line is printed here, as UBSan would: in most programs UBSan continues after it, but the run
// does not.
CLEW_EXPORT void __clew_ubsan_report() {
  if (!g_sched.active) return;
  using GetData = void (*)(const char** kind, const char** message, const char** file,
                           unsigned* line, unsigned* column, char** address);
  const auto get = lookup<GetData>("__ubsan_get_current_report_data");
  const char* kind = "";
  const char* message = "";
  const char* file = "";
  unsigned line = 0;
  unsigned column = 0;
  char* address = nullptr;
  if (get != nullptr) get(&kind, &message, &file, &line, &column, &address);
  char what[800];
  snprintf(what, sizeof what, "%s", message);
  if (what[0] >= 'A' && what[0] <= 'Z') what[0] += 'a' - 'A';  // as in its own line
  char text[1024];
  snprintf(text, sizeof text, "UndefinedBehaviorSanitizer: %s", what);
  end_run(text, file, line);
  snprintf(text, sizeof text, "%s:%u:%u: runtime error: %s\n", file, line, column, what);
  raw_syscall(SYS_write, 2, reinterpret_cast<long>(text), static_cast<long>(strlen(text)));
  leave();
}

// LeakSanitizer stops the threads that the kernel knows, and looks on their stacks only.
CLEW_EXPORT int __lsan_is_turned_off() { return clew_in_charge; }
