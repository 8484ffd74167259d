// The process-wide numbers of yield points: modules register their tables in the order
// in which they are loaded, which is the same in every run.
#include "runtime/record/points.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <algorithm>

#include "clew_abi/job.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

constexpr std::size_t kMaxModules = 4096;
PointModule g_modules[kMaxModules];
std::size_t g_module_count = 0;
std::uint64_t g_next_id = 1;
std::uint8_t g_uncovered_code = 0;

// What every program has, or clew models. Their code reads and writes the program's memory too, but
// only on behalf of a call: what clew says of a program is about the code that was built with it.
constexpr const char* kUsualLibraries[] = {"ld-linux", "libc.so",    "libm.so",     "libpthread",
                                           "libdl.so", "librt.so",   "libgcc_s",    "libstdc++",
                                           "libc++",   "libclew_rt", "linux-vdso",  "libatomic.so",
                                           "libomp",   "libunwind",  "libresolv.so"};

bool is_usual(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  for (const char* usual : kUsualLibraries)
    if (strncmp(name, usual, strlen(usual)) == 0) return true;
  return false;
}

struct Range {
  std::uintptr_t begin, end;
};

Range range_of(const dl_phdr_info& module) {
  Range range{UINTPTR_MAX, 0};
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const auto& part = module.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    range.begin = std::min<std::uintptr_t>(range.begin, module.dlpi_addr + part.p_vaddr);
    range.end = std::max<std::uintptr_t>(range.end, module.dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  return range;
}

// Whether the module has code of which nothing is known. The first that is visited is the program.
int is_without_points(dl_phdr_info* module, std::size_t, void* first) {
  const bool is_program = *static_cast<bool*>(first);
  *static_cast<bool*>(first) = false;
  if (!is_program && (module->dlpi_name[0] == 0 || is_usual(module->dlpi_name))) return 0;
  const Range range = range_of(*module);
  return has_points(range.begin, range.end) ? 0 : 1;
}

struct Frames {
  const std::uintptr_t* frames;
  std::size_t count;  // those that are still of interest: further in than what was found
  std::uintptr_t found;
};

int find_innermost(dl_phdr_info* module, std::size_t, void* data) {
  auto& frames = *static_cast<Frames*>(data);
  const Range range = range_of(*module);
  if (!has_points(range.begin, range.end)) return 0;
  for (std::size_t i = 0; i < frames.count; ++i)
    if (frames.frames[i] >= range.begin && frames.frames[i] < range.end) {
      frames.found = frames.frames[i];
      frames.count = i;
    }
  return 0;
}

bool has_silent_code(const PointModule& module) {
  return std::any_of(module.begin, module.end,
                     [](const abi::Point& point) { return point.kind == abi::PointKind::kSilent; });
}

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

void look_for_uncovered_code() {
  g_uncovered_code = std::any_of(g_modules, g_modules + g_module_count, has_silent_code)
                         ? abi::kUncoveredRegions
                         : 0;
  bool first = true;
  if (dl_iterate_phdr(is_without_points, &first) != 0) g_uncovered_code |= abi::kUncoveredLibraries;
}

std::uintptr_t innermost_with_points(const std::uintptr_t* frames, std::size_t count) {
  Frames search{frames, count, 0};
  dl_iterate_phdr(find_innermost, &search);
  return search.found;
}

std::uint8_t uncovered_code() { return g_uncovered_code; }

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
