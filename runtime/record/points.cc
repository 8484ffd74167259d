// The process-wide numbers of yield points: modules register their tables in the order
// in which they are loaded, which is the same in every run.
#include "runtime/record/points.h"

#include <dlfcn.h>

#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

constexpr std::size_t kMaxModules = 4096;
PointModule g_modules[kMaxModules];
std::size_t g_module_count = 0;
std::uint64_t g_next_id = 1;

void report(const PointModule& module) {
  Dl_info info{};
  const bool known = dladdr(module.begin, &info) != 0;
  const auto count = static_cast<std::uint64_t>(module.end - module.begin);
  g_hash.fold(count);
  Payload payload;
  payload.number(module.base).number(count).text(known ? info.dli_fname : "");
  g_log.message(abi::MessageType::kModule, payload);
}

}  // namespace

PointModule g_last_module = {};

void register_points(const abi::Point* begin, const abi::Point* end) {
  CLEW_CHECK(g_module_count < kMaxModules);
  PointModule& module = g_modules[g_module_count++];
  module = {begin, end, g_next_id};
  g_next_id += static_cast<std::uint64_t>(end - begin);
  g_last_module = {};  // it may have been unloaded to make room for this one
  if (g_sched.active) report(module);
}

std::uint64_t points_given() { return g_next_id; }

bool has_points(std::uintptr_t begin, std::uintptr_t end) {
  for (std::size_t i = 0; i < g_module_count; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(g_modules[i].begin);
    if (address >= begin && address < end) return true;
  }
  return false;
}

void report_registered_points() {
  for (std::size_t i = 0; i < g_module_count; ++i) report(g_modules[i]);
}

abi::Place place_of_slow(const abi::Point* point) {
  // The newest comes first: a library loaded where another was unloaded shadows it.
  for (std::size_t i = g_module_count; i-- > 0;) {
    if (point < g_modules[i].begin || point >= g_modules[i].end) continue;
    g_last_module = g_modules[i];
    return place_of(point);
  }
  return 0;
}

}  // namespace clew::rt
