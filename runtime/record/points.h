// The process-wide numbers of yield points, and of places in code without any.
#ifndef CLEW_RUNTIME_RECORD_POINTS_H_
#define CLEW_RUNTIME_RECORD_POINTS_H_

#include "clew_abi/point.h"
#include "clew_abi/stream.h"
#include "runtime/rt.h"

namespace clew::rt {

// A module with yield points.
struct PointModule {
  const abi::Point* begin;
  const abi::Point* end;
  std::uint64_t base;  // id of the first point
};
extern PointModule g_last_module;  // the one asked for last

// The place of a point of an instrumented module, or of a code address.
abi::Place place_of_slow(const abi::Point* point);
inline abi::Place place_of(const abi::Point* point) {
  const PointModule& module = g_last_module;
  if (CLEW_LIKELY(point >= module.begin && point < module.end))
    return (module.base + static_cast<std::uint64_t>(point - module.begin)) << 1;
  return place_of_slow(point);
}
inline abi::Place place_of_code(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) << 1 | 1;
}
// A module's points have appeared.
void register_points(const abi::Point* begin, const abi::Point* end);
// Whether an instrumented module lies there.
bool has_points(std::uintptr_t begin, std::uintptr_t end);
// The innermost of these frames that lies in a module with points; 0: none does.
std::uintptr_t innermost_with_points(const std::uintptr_t* frames, std::size_t count);
// Whether there is code whose accesses are no points (abi::Uncovered): in modules that have points,
// and in modules that have none, other than libc and the like.
std::uint8_t uncovered_code();
// Finds out, at the start and when modules have been loaded.
void look_for_uncovered_code();
// Reports the modules that registered before the log was there.
void report_registered_points();
// One more than the highest id.
std::uint64_t points_given();

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_RECORD_POINTS_H_
