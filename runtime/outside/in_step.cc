#include "runtime/outside/in_step.h"

#include <sys/syscall.h>
#include <time.h>

#include "runtime/outside/inputs.h"
#include "runtime/raw_syscall.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

bool g_keeps = false;
// Real time less virtual time, when the run began.
Nanos g_lead = 0;

Nanos lead() {
  timespec t;
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&t));
  return t.tv_sec * 1'000'000'000 + t.tv_nsec - g_sched.now();
}

}  // namespace

void begin_in_step(const abi::Control& control) {
  const bool is_started_by_another = (control.flags & abi::kFlagChild) != 0;
  g_keeps = is_started_by_another && control.clock_speed <= 1 && g_inputs.recording();
  g_lead = lead();
}

bool keeps_in_step() { return g_keeps; }

Nanos behind_real_time() { return lead() - g_lead; }

}  // namespace clew::rt
