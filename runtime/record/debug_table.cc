#include "runtime/record/debug_table.h"

#include "runtime/sched/scheduler.h"

namespace {
constexpr std::size_t kMaxDebugFibers = 4096;
}

// Read by name and layout from cli/clew_gdb.py.
extern "C" {
struct ClewDebugFiber {
  char id[32];
  std::uint64_t stack, instruction, frame;
  std::uint64_t state;  // FiberState
  std::uint64_t in_use;
};
__attribute__((visibility("default"))) ClewDebugFiber clew_debug_fibers[kMaxDebugFibers];
__attribute__((visibility("default"))) std::uint64_t clew_debug_fiber_count = 0;
__attribute__((visibility("default"))) std::uint64_t clew_debug_current = 0;
}

namespace clew::rt {

void debug_table_update(const Fiber& fiber) {
  clew_debug_current = g_sched.current->index;
  if (fiber.index >= kMaxDebugFibers) return;
  if (fiber.index >= clew_debug_fiber_count) clew_debug_fiber_count = fiber.index + 1;
  ClewDebugFiber& entry = clew_debug_fibers[fiber.index];
  g_sched.threads.name(fiber.index, entry.id, sizeof entry.id);
  entry.state = static_cast<std::uint64_t>(fiber.state);
  entry.in_use = fiber.state != FiberState::kFinished;
  if (fiber.state == FiberState::kFinished) return;
  const ParkedFrame parked = parked_frame(fiber.context);
  entry.stack = parked.stack;
  entry.instruction = parked.instruction;
  entry.frame = parked.frame;
}

}  // namespace clew::rt
