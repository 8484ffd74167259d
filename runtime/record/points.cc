// The process-wide numbers of yield points: modules register their tables in the order
// in which they are loaded, which is the same in every run.
#include <dlfcn.h>

#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

struct Module {
  const abi::Point* begin;
  const abi::Point* end;
  std::uint64_t base;  // id of the first point
};

constexpr std::size_t kMaxModules = 4096;
Module g_modules[kMaxModules];
std::size_t g_module_count = 0;
std::uint64_t g_next_id = 1;

void report(const Module& module) {
  Dl_info info{};
  const bool known = dladdr(module.begin, &info) != 0;
  const auto count = static_cast<std::uint64_t>(module.end - module.begin);
  g_log.fold(count);
  Payload payload;
  payload.number(module.base).number(count).text(known ? info.dli_fname : "");
  g_log.message(abi::MessageType::kModule, payload);
}

}  // namespace

void register_points(const abi::Point* begin, const abi::Point* end) {
  CLEW_CHECK(g_module_count < kMaxModules);
  Module& module = g_modules[g_module_count++];
  module = {begin, end, g_next_id};
  g_next_id += static_cast<std::uint64_t>(end - begin);
  if (g_sched.active) report(module);
}

void report_registered_points() {
  for (std::size_t i = 0; i < g_module_count; ++i) report(g_modules[i]);
}

abi::Place place_of(const abi::Point* point) {
  // Newest first: a library loaded where another was unloaded shadows it.
  for (std::size_t i = g_module_count; i-- > 0;) {
    const Module& module = g_modules[i];
    if (point >= module.begin && point < module.end)
      return (module.base + static_cast<std::uint64_t>(point - module.begin)) << 1;
  }
  return 0;
}

}  // namespace clew::rt
