// Timers that start a thread (SIGEV_THREAD): libc would have a kernel thread of its own for them.
#include <sys/syscall.h>

#include "runtime/intercept/call.h"
#include "runtime/outside/system_call.h"
#include "runtime/outside/timers.h"

using namespace clew::rt;

namespace {

struct Expiry {
  void (*function)(sigval);
  sigval value;
};

constexpr std::size_t kMost = 256;
Expiry g_expiries[kMost];
std::size_t g_begin = 0;
std::size_t g_end = 0;
bool g_starter_runs = false;

void* run_expiry(void* argument) {
  const Expiry expiry = g_expiries[reinterpret_cast<std::uintptr_t>(argument) % kMost];
  expiry.function(expiry.value);
  return nullptr;
}

// Starts a thread for each timer that is due.
void* start_threads(void*) {
  for (;;) {
    while (g_begin == g_end) g_sched.block(clew::abi::WaitKind::kSleep, &g_expiries, kForever);
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run_expiry, reinterpret_cast<void*>(g_begin++)) == 0)
      pthread_detach(thread);
  }
}

}  // namespace

namespace clew::rt {

void start_thread_for_timer(void (*function)(sigval), sigval value) {
  if (g_end - g_begin == kMost) return;
  g_expiries[g_end++ % kMost] = {function, value};
  g_sched.wake_one(&g_expiries);
}

}  // namespace clew::rt

CLEW_EXPORT int timer_create(clockid_t clock, sigevent* event, timer_t* out) noexcept {
  if (!g_sched.active) return CLEW_REAL(timer_create)(clock, event, out);
  if (event != nullptr && event->sigev_notify == SIGEV_THREAD && !g_starter_runs) {
    pthread_t thread;
    if (const int error = pthread_create(&thread, nullptr, start_threads, nullptr))
      return answer_errno(error);
    pthread_detach(thread);
    g_starter_runs = true;
  }
  int id = 0;
  const long result = system_call(SYS_timer_create, clock, event, &id);
  if (result == 0) *out = reinterpret_cast<timer_t>(static_cast<long>(id));
  return static_cast<int>(with_errno(result));
}
