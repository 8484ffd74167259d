// A runtime that only writes which yield points are passed: one line each, "line kind",
// or with STUB_LONG set "file:line:column function kind size", on standard output at the end.
// STUB_IMAGES: also how many tables were registered. STUB_SILENT: nothing. STUB_EVERY=k: only every
// k-th point reaches the runtime, each line begins with the clock and the number of the point, and
// the last line is the clock at the end. STUB_FAIL_CAS=k: of the weak compare-exchanges whose
// points reach the runtime, every k-th fails.
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "clew_abi/point.h"
#include "stub_lines.h"

namespace {

using clew::abi::Point;

struct Passed {
  const Point* point;
  std::uint64_t size;
  std::int64_t clock;
};
constexpr int kMaxPassed = 1000000;
Passed passed[kMaxPassed];
int passed_count = 0;
std::int64_t every = 1;
std::int64_t limit = 1;  // the clock at which the countdown runs out
const Point* table = nullptr;
constinit stub::Images lines;

const char* const kNames[] = {
#define CLEW_KIND(name, text, access) #name,
    CLEW_POINT_KINDS(CLEW_KIND)
#undef CLEW_KIND
};

void pass(const Point* point, std::uint64_t size) {
  if (passed_count < kMaxPassed) passed[passed_count++] = {point, size, limit};
}

}  // namespace

extern "C" {
__thread std::int64_t __clew_countdown = 0;
__thread const Point* __clew_call_site = nullptr;
}

namespace {

// The countdown has run out.
void fire(const Point* point, std::uint64_t size) {
  if (__clew_countdown != -1) std::abort();
  pass(point, size);
  limit += every;
  __clew_countdown = every - 1;
}

// A point that always calls the runtime.
void count(const Point* point) {
  if (every == 1)
    pass(point, 0), ++limit;
  else if (--__clew_countdown < 0)
    fire(point, 0);
}

struct Report {
  ~Report() {
    if (std::getenv("STUB_SILENT") != nullptr) return;
    const bool longer = std::getenv("STUB_LONG") != nullptr;
    if (std::getenv("STUB_IMAGES") != nullptr) std::printf("images %zu\n", lines.size());
    for (int i = 0; i < passed_count; ++i) {
      const auto [point, size, clock] = passed[i];
      if (std::getenv("STUB_EVERY") != nullptr) std::printf("%ld %ld ", clock, point - table);
      if (reinterpret_cast<std::uintptr_t>(point) == clew::abi::kNoPointSite) {
        std::printf("- NoPointSite\n");
        continue;
      }
      const char* kind = kNames[static_cast<int>(point->kind)] + 1;
      const clew::PointLine line = lines.line_of(point);
      if (!longer) {
        std::printf("%u %s\n", line.line, kind);
        continue;
      }
      const std::string file(line.file);
      const std::string function(line.function);
      const std::size_t slash = file.rfind('/');
      std::printf("%s%s:%u:%u %s %s %lu\n", file.starts_with('/') ? "/" : "",
                  file.substr(slash + 1).c_str(), line.line, line.column, function.c_str(), kind,
                  size);
    }
    if (std::getenv("STUB_EVERY") != nullptr)
      std::printf("end %ld\n", limit - 1 - __clew_countdown);
  }
} report;

}  // namespace

extern "C" {

[[clang::preserve_most]] void __clew_yield(const Point* point) { fire(point, 0); }
[[clang::preserve_most]] void __clew_yield_access(const Point* point, const void*,
                                                  std::uint64_t size) {
  fire(point, size);
}
[[clang::preserve_most]] void __clew_yield_next(const Point* point) {
  if (--__clew_countdown < 0) fire(point, 0);
}
[[clang::preserve_most]] void __clew_yield_access_next(const Point* point, const void*,
                                                       std::uint64_t size) {
  if (--__clew_countdown < 0) fire(point, size);
}
#define CLEW_SIZED(size)                                                                           \
  [[clang::preserve_most]] void __clew_yield_access_##size(const Point* point, const void*) {      \
    fire(point, size);                                                                             \
  }                                                                                                \
  [[clang::preserve_most]] void __clew_yield_access_next_##size(const Point* point, const void*) { \
    if (--__clew_countdown < 0) fire(point, size);                                                 \
  }
CLEW_SIZED(1)
CLEW_SIZED(4)
CLEW_SIZED(8)
CLEW_SIZED(16)
[[clang::preserve_most]] std::uint64_t __clew_yield_cas(const Point* point, const void*,
                                                        std::uint64_t size) {
  static const char* const text = std::getenv("STUB_FAIL_CAS");
  static int left = text != nullptr ? std::atoi(text) : 0;
  fire(point, size);
  if (text == nullptr || --left > 0) return 0;
  left = std::atoi(text);
  return 1;
}
[[clang::preserve_most]] std::uint64_t __clew_string_size(const char* string, std::uint64_t most) {
  return std::min<std::uint64_t>(strnlen(string, most) + 1, most);
}
[[clang::preserve_most]] void __clew_spin(const Point* point) { count(point); }
[[clang::preserve_most]] std::uint64_t __clew_random() { return 0x1234567812345678; }

void __clew_register_kinds(const Point* begin, const Point* end) {
  if (begin >= end) std::abort();
  lines.add(begin, end);
  for (const Point* point = begin; point != end; ++point) {
    const clew::PointLine line = lines.line_of(point);
    if (point->kind >= clew::abi::PointKind::kCount || !line.file.starts_with('/') ||
        line.function.empty())
      std::abort();
  }
  if (lines.size() > 1) return;
  table = begin;
  if (const char* text = std::getenv("STUB_EVERY")) every = limit = std::atoll(text);
  __clew_countdown = every - 1;
}

// Two listed functions, as the real runtime defines them.
int pthread_mutex_lock(pthread_mutex_t*) noexcept {
  count(__clew_call_site);
  __clew_call_site = nullptr;
  return 0;
}
int sched_yield() noexcept {
  count(__clew_call_site);
  __clew_call_site = nullptr;
  return 0;
}
}
