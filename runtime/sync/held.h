// The locks a thread holds, for deadlock reports.
#ifndef CLEW_RUNTIME_SYNC_HELD_H_
#define CLEW_RUNTIME_SYNC_HELD_H_

#include "runtime/sched/scheduler.h"

namespace clew::rt {

inline void hold(abi::WaitKind kind, const void* object, const void* taken_by) {
  Fiber& self = *g_sched.current;
  if (self.held_count < Fiber::kMaxHeld)
    self.held[self.held_count] = {object, kind, g_sched.clock(),
                                  reinterpret_cast<std::uintptr_t>(taken_by)};
  ++self.held_count;
}

// Newest first; unlocking by another thread than the holder is looked for there.
inline bool release_from(Fiber& fiber, const void* object) {
  std::size_t count = fiber.held_count < Fiber::kMaxHeld ? fiber.held_count : Fiber::kMaxHeld;
  for (std::size_t i = count; i-- > 0;) {
    if (fiber.held[i].object != object) continue;
    for (std::size_t j = i + 1; j < count; ++j) fiber.held[j - 1] = fiber.held[j];
    --fiber.held_count;
    return true;
  }
  return false;
}

inline void release(const void* object) {
  if (release_from(*g_sched.current, object)) return;
  bool found = false;
  g_sched.for_each_living([&](Fiber& fiber) {
    if (!found) found = release_from(fiber, object);
  });
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYNC_HELD_H_
