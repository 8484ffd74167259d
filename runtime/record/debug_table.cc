#include "runtime/record/debug_table.h"

#include <string.h>

#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {

abi::DebugTable g_table;

std::uint64_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

void debug_begin() {
  const EventClock::Parts clock = g_sched.clock_parts();
  g_table.countdown = number(clock.countdown);
  g_table.counts = number(clock.counts);
  g_table.limit = number(clock.limit);
  g_table.settled = number(clock.settled);
  g_table.current = g_sched.current->index;
  g_table.count = g_sched.current->index + 1;
  abi::DebugThread& entry = g_table.threads[g_sched.current->index];
  g_sched.threads.name(g_sched.current->index, entry.id, sizeof entry.id);
  g_sched.debugged = true;
}

void debug_table_update(const Fiber& fiber) {
  g_table.current = g_sched.current->index;
  if (fiber.index >= abi::kMaxDebugThreads) return;
  if (fiber.index >= g_table.count) g_table.count = fiber.index + 1;
  abi::DebugThread& entry = g_table.threads[fiber.index];
  g_sched.threads.name(fiber.index, entry.id, sizeof entry.id);
  entry.state = static_cast<abi::DebugThreadState>(fiber.state);
  entry.parked_at = *g_sched.clock_parts().settled;
  if (fiber.state == FiberState::kFinished) return;
  const ParkedFrame parked = parked_frame(fiber.context);
  entry.instruction = parked.instruction;
  entry.stack = parked.stack;
  entry.frame = parked.frame;
  entry.rbx = parked.rbx;
  entry.r12 = parked.r12;
  entry.r13 = parked.r13;
  entry.r14 = parked.r14;
  entry.r15 = parked.r15;
  entry.thread_pointer = fiber.context.thread_pointer;
}

void debug_note_failure(const char* detail) {
  if (!g_sched.debugged) return;
  strncpy(g_table.failure, detail, sizeof g_table.failure - 1);
}

__attribute__((noinline)) void debug_stop(abi::DebugStop why) {
  if (!g_sched.debugged) return;
  asm volatile("int3" ::"a"(abi::kDebugMagic), "D"(why), "S"(&g_table) : "memory");
}

}  // namespace clew::rt
