// A runtime that only writes down which yield points are passed: one line each, "line kind",
// or with STUB_LONG set "file:line:column function kind size", on standard output at the end. STUB_IMAGES:
// also how many tables were registered. STUB_SILENT: nothing.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "clew_abi/point.h"

namespace {

using clew::abi::Point;

struct Passed {
  const Point* point;
  std::uint64_t size;
};
constexpr int kMaxPassed = 100000;
Passed passed[kMaxPassed];
int passed_count = 0;
int images = 0;

const char* const kNames[] = {
#define CLEW_KIND(name, text, access) #name,
    CLEW_POINT_KINDS(CLEW_KIND)
#undef CLEW_KIND
};

const char* text_at(const std::int32_t& field) { return reinterpret_cast<const char*>(&field) + field; }

void pass(const Point* point, std::uint64_t size) {
  if (passed_count < kMaxPassed) passed[passed_count++] = {point, size};
}

struct Report {
  ~Report() {
    if (std::getenv("STUB_SILENT") != nullptr) return;
    const bool longer = std::getenv("STUB_LONG") != nullptr;
    if (std::getenv("STUB_IMAGES") != nullptr) std::printf("images %d\n", images);
    for (int i = 0; i < passed_count; ++i) {
      const auto [point, size] = passed[i];
      if (reinterpret_cast<std::uintptr_t>(point) == clew::abi::kNoPointSite) {
        std::printf("- NoPointSite\n");
        continue;
      }
      const char* kind = kNames[static_cast<int>(point->kind)] + 1;
      if (!longer) {
        std::printf("%u %s\n", point->line, kind);
        continue;
      }
      const char* file = text_at(point->file);
      const char* slash = std::strrchr(file, '/');
      std::printf("%s%s:%u:%u %s %s %lu\n", file[0] == '/' ? "/" : "", slash ? slash + 1 : file, point->line,
                  point->column, text_at(point->function), kind, size);
    }
  }
} report;

}  // namespace

extern "C" {

__thread std::int64_t __clew_countdown = 0;
__thread const Point* __clew_call_site = nullptr;

[[clang::preserve_most]] void __clew_yield(const Point* point) {
  pass(point, 0);
  __clew_countdown = 0;
}
[[clang::preserve_most]] void __clew_yield_access(const Point* point, const void*, std::uint64_t size) {
  pass(point, size);
  __clew_countdown = 0;
}
[[clang::preserve_most]] void __clew_spin(const Point* point) { pass(point, 0); }

void __clew_register_points(const Point* begin, const Point* end) {
  if (begin >= end || (end - begin) * sizeof(Point) != reinterpret_cast<std::uintptr_t>(end) - reinterpret_cast<std::uintptr_t>(begin)) std::abort();
  for (const Point* point = begin; point != end; ++point)
    if (point->kind >= clew::abi::PointKind::kCount || text_at(point->file)[0] != '/' || !*text_at(point->function))
      std::abort();
  ++images;
}

// Two listed functions, as the real runtime defines them.
int pthread_mutex_lock(void*) {
  pass(__clew_call_site, 0);
  __clew_call_site = nullptr;
  return 0;
}
int sched_yield() {
  pass(__clew_call_site, 0);
  __clew_call_site = nullptr;
  return 0;
}
}
