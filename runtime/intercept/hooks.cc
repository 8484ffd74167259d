// What instrumented code calls, and the program's own interface (clew/clew.h).
#include "runtime/event/sharing.h"
#include "runtime/intercept/call.h"
#include "runtime/intercept/heap_hooks.h"
#include "runtime/libc/heap.h"
#include "runtime/record/log.h"
#include "runtime/record/points.h"
#include "runtime/sched/scheduler.h"

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
    case PointKind::kFree:
      return StepKind::kFree;
    case PointKind::kScopeEnd:
      return StepKind::kDestroy;
    default:
      return StepKind::kUpdate;
  }
}

// A step has room for less than 4 GB.
std::uint32_t step_size(std::uint64_t size) {
  return size < UINT32_MAX ? static_cast<std::uint32_t>(size) : UINT32_MAX;
}

// Whether anybody wants to know what the next event accesses.
bool is_looked_at() {
  return g_sched.looks_at_every_point() || g_listeners.looked_at().has(g_sched.clock() + 1);
}

bool is_plain(const Point& point) {
  return point.kind == clew::abi::PointKind::kLoad || point.kind == clew::abi::PointKind::kStore;
}

// What an access means for the stretch, if it is more than an access.
void keep_stretch(const Step& step) {
  const bool is_atomic = step.point >= clew::abi::PointKind::kAtomicLoad &&
                         step.point <= clew::abi::PointKind::kAtomicCas;
  if (is_atomic && step.order != clew::abi::MemoryOrder::kRelaxed) return g_stretch.begin();
  if (clew::abi::ends_life(step.kind)) g_stretch.forget(step.object, step.size);
}

// The access is looked at because somebody listens, or because something else was due at it.
void announce_access(const Step& step) {
  if (g_sched.only_listened_to())
    g_sched.announce_to_each(step);
  else
    g_sched.announce(step, Scheduler::Counted::kYes);
}

// The most frequent case while a run is watched. Only general registers are used.
void announce_unless_repeated(const Point* point, std::uintptr_t address, std::uint64_t size) {
  const auto access = point->kind == clew::abi::PointKind::kStore ? Stretch::Access::kWrite
                                                                  : Stretch::Access::kRead;
  clew_vectors_untouched = 1;
  if (g_stretch.repeats(address, size, access)) return;
  g_sched.announce_plain(
      {.object = address, .place = place_of(point), .size = step_size(size), .point = point->kind});
}

// Nothing is to be decided at the access, and nothing else is due. The hooks may pass its point next time.
void announce_quiet(const Point* point, const Step& step) {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(point) - reinterpret_cast<std::uintptr_t>(g_quiet.begin);
  if (CLEW_UNLIKELY(offset >= g_quiet.size))
    g_sharing.let_pass(g_last_module.begin, g_last_module.end, g_last_module.base);
  if (is_plain(*point) && g_listeners.needs_no_repeats())
    announce_unless_repeated(point, step.object, step.size);
  else
    g_sched.announce_to_each(step);
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
  if (CLEW_UNLIKELY(g_sched.current->no_yield != 0))
    g_sched.announce_in_region({});
  else if (!g_sched.looks_at_every_point() || !g_sched.pass_quickly())
    g_sched.reach_at_limit({.place = place_of(point)});
  if (CLEW_UNLIKELY(point->kind == clew::abi::PointKind::kFence))
    g_sched.announce_fence({.place = place_of(point), .order = point->order});
}

void clew_yield_access_slow(const Point* point, const void* address, std::uint64_t size) {
  if (is_plain(*point) && g_sched.passed_for_listeners())
    return announce_unless_repeated(point, reinterpret_cast<std::uintptr_t>(address), size);
  if (CLEW_UNLIKELY(!g_sched.active)) {
    __clew_countdown = kUnlimited;
    return;
  }
  if (point->kind == clew::abi::PointKind::kFree) {
    if (address == nullptr) return clew_yield_slow(point);  // free(NULL) touches nothing
    if (size == 0 && is_looked_at()) size = size_of_allocation(address);
  }
  const Step step{reinterpret_cast<std::uintptr_t>(address),
                  place_of(point),
                  step_size(size),
                  step_kind(point->kind),
                  point->kind,
                  point->order};
  keep_stretch(step);
  if (CLEW_UNLIKELY(g_sched.current->no_yield != 0)) return g_sched.announce_in_region(step);
  if (CLEW_LIKELY(!g_sched.looks_at_every_point())) {
    g_sched.reach_at_limit({.place = step.place});
    if (g_listeners.looked_at().has(g_sched.clock())) announce_access(step);
    return;
  }
  const bool deciding = g_sharing.is_scheduling_point(step.place, point->kind);
  if (!deciding && g_sharing.is_quiet(step.place) && g_sched.pass_quickly())
    return announce_quiet(point, step);
  if (deciding || !g_sched.pass_quickly())
    g_sched.reach_at_limit({.place = step.place, .step = deciding ? step : Step{}});
  g_sched.announce(step, Scheduler::Counted::kYes);
}

std::uint64_t clew_yield_cas_slow(const Point* point, const void* address, std::uint64_t size) {
  clew_yield_access_slow(point, address, size);
  return g_sched.active && g_sched.weak_cas_fails() ? 1 : 0;
}

std::uint64_t clew_string_size_slow(const char* string, std::uint64_t most) {
  return g_sched.active && is_looked_at() ? size_of_string(string, most) : 0;
}

void clew_spin_slow(const Point* point) {
  if (!g_sched.active) {
    __builtin_ia32_pause();
    return;
  }
  g_sched.reach({.place = place_of(point)});
  if (g_sched.current->no_yield == 0) g_sched.yield_voluntarily();
}

}  // extern "C"

CLEW_EXPORT void __clew_register_kinds(const Point* begin, const Point* end) {
  register_points(begin, end);
  g_quiet.size = 0;  // the module may lie where another one lay
  if (g_sched.active && g_listeners.hears_of(kTopicMemory)) hook_heap();
}

CLEW_INTERPOSE void clew_no_yield_begin() {
  if (!g_sched.active) return;
  g_sched.uncovered |= clew::abi::kUncoveredRegions;
  g_sched.enter_no_yield();
}

CLEW_INTERPOSE void clew_no_yield_end() {
  if (g_sched.active) g_sched.leave_no_yield();
}
