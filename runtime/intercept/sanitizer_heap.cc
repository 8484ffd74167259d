// What AddressSanitizer's allocator says that it does.
#include "runtime/libc/heap.h"
#include "runtime/sched/scheduler.h"

// Behind all other headers: it renames what they declare.
#include "runtime/intercept/interposed.h"

using namespace clew;
using namespace clew::rt;

// It takes both functions or none.
CLEW_INTERPOSE void clew_sanitizer_allocated(const volatile void*, std::size_t) {}

// Memory that is freed by code without yield points: accesses of other threads to it are scheduling
// points, even if nobody else accesses the memory.
CLEW_INTERPOSE void clew_sanitizer_frees(const volatile void* memory) {
  if (!g_sched.active || !g_listeners.hears(g_sched.clock())) return;
  const std::size_t size = size_of_allocation(const_cast<const void*>(memory));
  if (size == 0) return;
  g_sched.announce(
      {reinterpret_cast<std::uintptr_t>(memory), 0,
       static_cast<std::uint32_t>(size < UINT32_MAX ? size : UINT32_MAX), abi::StepKind::kFree},
      Scheduler::Counted::kNo);
}
