#include "runtime/sync/held.h"
#include "runtime/sync/models.h"

namespace {
constexpr int kNotRun = 0;
constexpr int kRunning = 1;
constexpr int kDone = 2;  // glibc's value: inlined fast paths may look for it
}  // namespace

extern "C" {
void clew_once_call(int* control, void (*routine)(void));

// The routine left by an exception, or its thread ended in it: the next caller tries again.
void clew_once_abandoned(int* control) {
  *control = kNotRun;
  clew::rt::release(control);
  clew::rt::g_sched.wake_all(control);
}
}

namespace clew::rt {

int run_once(pthread_once_t* control, void (*routine)(void), const void* caller) {
  while (*control != kDone) {
    if (*control == kRunning) {
      g_sched.block(abi::WaitKind::kOnce, control, kForever);
      continue;
    }
    *control = kRunning;
    hold(abi::WaitKind::kOnce, control, caller);
    clew_once_call(control, routine);
    *control = kDone;
    release(control);
    g_sched.wake_all(control);
  }
  g_sched.announce_sync(Synchronised::Kind::kAcquires, control);
  return 0;
}

}  // namespace clew::rt
