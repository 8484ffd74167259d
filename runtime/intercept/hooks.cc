// What instrumented code calls, and the program's own interface (clew/clew.h).
#include "runtime/record/log.h"
#include "runtime/record/trace.h"
#include "runtime/sched/scheduler.h"
#include "runtime/sched/sharing.h"

using namespace clew::rt;
using clew::abi::Point;

namespace {

clew::abi::StepKind step_kind(clew::abi::PointKind kind) {
  using clew::abi::PointKind;
  using clew::abi::StepKind;
  switch (kind) {
    case PointKind::kLoad:
    case PointKind::kAtomicLoad:
    case PointKind::kBlockRead:
      return StepKind::kRead;
    case PointKind::kStore:
    case PointKind::kAtomicStore:
    case PointKind::kBlockWrite:
      return StepKind::kWrite;
    default:
      return StepKind::kUpdate;
  }
}

// The access was passed by a strategy by the clock.
void trace_access(const Point* point, const void* address, std::uint64_t size) {
  if (g_sched.current->no_yield != 0 || !g_trace.wants_step(g_sched.clock())) return;
  g_sched.trace_passed({reinterpret_cast<std::uintptr_t>(address), place_of(point),
                        static_cast<std::uint32_t>(size), step_kind(point->kind)});
}

}  // namespace

extern "C" {

#define CLEW_TLS(name, type) \
  __attribute__((visibility("default"), tls_model("initial-exec"))) __thread type name;
#define CLEW_HOOK(name, ...)
#define __clew_countdown __clew_countdown = kUnlimited
#define __clew_call_site __clew_call_site = nullptr
#include "clew_abi/hooks.def"
#undef __clew_countdown
#undef __clew_call_site

// Behind the assembly stubs of the same names without _slow.
void clew_yield_slow(const Point* point) {
  if (CLEW_UNLIKELY(!g_sched.active)) {
    __clew_countdown = kUnlimited;
    return;
  }
  if (g_sched.at_every_point()) {
    if (g_sched.pass_quickly()) return;
    g_sched.current->step = {};
    g_sched.current->can_go_on = nullptr;
  }
  g_sched.current->place = place_of(point);
  g_sched.yield_slow();
}

void clew_yield_access_slow(const Point* point, const void* address, std::uint64_t size) {
  if (CLEW_LIKELY(!g_sched.active || !g_sched.at_every_point())) {
    clew_yield_slow(point);
    if (g_sched.active) trace_access(point, address, size);
    return;
  }
  const clew::abi::Place place = place_of(point);
  const bool deciding = g_sharing.is_scheduling_point(place, point->kind);
  if (!deciding && g_sharing.is_quiet(place) && g_sched.pass_quickly()) return;
  Fiber& fiber = *g_sched.current;
  const Step step{reinterpret_cast<std::uintptr_t>(address), place,
                  static_cast<std::uint32_t>(size), step_kind(point->kind)};
  if (deciding || !g_sched.pass_quickly()) {
    fiber.step = deciding ? step : Step{};
    fiber.can_go_on = nullptr;
    fiber.place = step.place;
    g_sched.yield_slow();
  }
  g_sharing.touch(fiber, step);
}

std::uint64_t clew_yield_cas_slow(const Point* point, const void* address, std::uint64_t size) {
  clew_yield_access_slow(point, address, size);
  return g_sched.active && g_sched.weak_cas_fails() ? 1 : 0;
}

void clew_spin_slow(const Point* point) {
  if (!g_sched.active) {
    __builtin_ia32_pause();
    return;
  }
  g_sched.yield_at(place_of(point));
  if (g_sched.current->no_yield == 0) g_sched.yield_voluntarily();
}

}  // extern "C"

CLEW_EXPORT void __clew_register_points(const Point* begin, const Point* end) {
  register_points(begin, end);
}

CLEW_EXPORT void clew_no_yield_begin() {
  if (g_sched.active) g_sched.enter_no_yield();
}

CLEW_EXPORT void clew_no_yield_end() {
  if (g_sched.active) g_sched.leave_no_yield();
}
