// Timers that start a thread (SIGEV_THREAD): libc would have a kernel thread of its own for them.
#include "runtime/intercept/timer.h"

#include <sys/syscall.h>

#include "runtime/intercept/call.h"
#include "runtime/syscall/system_call.h"

using namespace clew::rt;

namespace {

struct Expiry {
  int timer;
  void (*function)(sigval);
  sigval value;
};

constexpr std::size_t kMost = 256;
// The attributes of the threads of a timer, as they were when the timer was made.
struct Wish {
  bool set = false;
  pthread_attr_t attributes;
};
Wish g_wishes[kMost];  // by the number of the timer
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
    const Wish& wish = g_wishes[g_expiries[g_begin % kMost].timer];
    pthread_t thread;
    if (pthread_create(&thread, wish.set ? &wish.attributes : nullptr, run_expiry,
                       reinterpret_cast<void*>(g_begin++)) == 0 &&
        !wish.set)
      pthread_detach(thread);
  }
}

// A copy that stays valid when the program destroys its own: there is no function for it.
void copy_attributes(const pthread_attr_t& from, pthread_attr_t& to) {
  std::size_t size;
  void* stack;
  int value;
  sched_param parameters;
  cpu_set_t processors;
  sigset_t mask;
  pthread_attr_init(&to);
  pthread_attr_setdetachstate(&to, PTHREAD_CREATE_DETACHED);
  if (pthread_attr_getstacksize(&from, &size) == 0) pthread_attr_setstacksize(&to, size);
  // Without a stack of the program's own, glibc answers the address 0 minus the size.
  if (pthread_attr_getstack(&from, &stack, &size) == 0 &&
      static_cast<char*>(stack) + size != nullptr)
    pthread_attr_setstack(&to, stack, size);
  if (pthread_attr_getguardsize(&from, &size) == 0) pthread_attr_setguardsize(&to, size);
  if (pthread_attr_getinheritsched(&from, &value) == 0) pthread_attr_setinheritsched(&to, value);
  if (pthread_attr_getschedpolicy(&from, &value) == 0) pthread_attr_setschedpolicy(&to, value);
  if (pthread_attr_getschedparam(&from, &parameters) == 0)
    pthread_attr_setschedparam(&to, &parameters);
  if (pthread_attr_getaffinity_np(&from, sizeof processors, &processors) == 0)
    pthread_attr_setaffinity_np(&to, sizeof processors, &processors);
  if (pthread_attr_getsigmask_np(&from, &mask) == 0) pthread_attr_setsigmask_np(&to, &mask);
}

void note_wish(std::size_t timer, const sigevent& event) {
  Wish& wish = g_wishes[timer];
  if (wish.set) pthread_attr_destroy(&wish.attributes);
  wish.set = event.sigev_notify_attributes != nullptr;
  if (wish.set) copy_attributes(*event.sigev_notify_attributes, wish.attributes);
}

}  // namespace

namespace clew::rt {

void forget_thread_for_timers() {
  g_begin = g_end;
  g_starter_runs = false;
}

void start_thread_for_timer(int timer, void (*function)(sigval), sigval value) {
  if (g_end - g_begin == kMost) return;
  g_expiries[g_end++ % kMost] = {timer, function, value};
  g_sched.wake_one(&g_expiries);
}

}  // namespace clew::rt

CLEW_INTERPOSE int timer_create(clockid_t clock, sigevent* event, timer_t* out) noexcept {
  if (!g_sched.active) return CLEW_REAL(timer_create)(clock, event, out);
  const bool by_thread = event != nullptr && event->sigev_notify == SIGEV_THREAD;
  if (by_thread && !g_starter_runs) {
    pthread_t thread;
    if (const int error = pthread_create(&thread, nullptr, start_threads, nullptr))
      return answer_errno(error);
    pthread_detach(thread);
    g_starter_runs = true;
  }
  int id = 0;
  const long result = system_call(SYS_timer_create, clock, event, &id);
  if (result == 0 && by_thread) note_wish(static_cast<std::size_t>(id), *event);
  if (result == 0) *out = reinterpret_cast<timer_t>(static_cast<long>(id));
  return static_cast<int>(with_errno(result));
}
