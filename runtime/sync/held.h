// The locks a thread holds, for deadlock reports.
#ifndef CLEW_RUNTIME_SYNC_HELD_H_
#define CLEW_RUNTIME_SYNC_HELD_H_

#include "runtime/sched/scheduler.h"

namespace clew::rt {

// Who has taken a lock lately. A table of fixed size: when two locks share an entry the older one
// is forgotten.
struct Takers {
  static constexpr std::size_t kEntries = 256;
  static constexpr std::size_t kThreads = 4;

  const void* object;
  std::uint32_t threads[kThreads];  // index + 1, the newest first

  static Takers& of(const void* object) {
    const auto hash = reinterpret_cast<std::uintptr_t>(object) * 0x9e37'79b9'7f4a'7c15;
    return g_takers[hash >> 56];
  }
  static Takers g_takers[kEntries];
};
inline Takers Takers::g_takers[Takers::kEntries] = {};

inline void note_taker(const void* object, const Fiber& fiber) {
  Takers& takers = Takers::of(object);
  if (takers.object != object) takers = {object, {}};
  std::uint32_t before = fiber.index + 1;
  for (std::uint32_t& thread : takers.threads) {
    const std::uint32_t moved = thread;
    thread = before;
    if (moved == fiber.index + 1) return;
    before = moved;
  }
}

inline bool holds(const Fiber& fiber, const void* object) {
  const std::size_t count = fiber.held_count < Fiber::kMaxHeld ? fiber.held_count : Fiber::kMaxHeld;
  for (std::size_t i = 0; i < count; ++i)
    if (fiber.held[i].object == object) return true;
  return false;
}

// Whether another thread could hold the lock now under another schedule: it has held the lock
// before, does not hold it now, and is runnable. Otherwise an attempt to take the free lock cannot
// fail.
inline bool could_be_taken(const void* object) {
  const Takers& takers = Takers::of(object);
  if (takers.object != object) return false;
  for (const std::uint32_t thread : takers.threads) {
    const Fiber* fiber = thread != 0 ? g_sched.threads.fiber(thread - 1) : nullptr;
    if (fiber != nullptr && fiber != g_sched.current && fiber->state == FiberState::kRunnable &&
        !holds(*fiber, object))
      return true;
  }
  return false;
}

inline void hold(abi::WaitKind kind, const void* object, const void* taken_by) {
  Fiber& self = *g_sched.current;
  note_taker(object, self);
  if (self.held_count < Fiber::kMaxHeld)
    self.held[self.held_count] = {object, kind, g_sched.clock(),
                                  reinterpret_cast<std::uintptr_t>(taken_by)};
  ++self.held_count;
  g_sched.announce_sync(Synchronised::Kind::kTaken, object, kind);
}

// Searches the newest first. How it was held; kNothing: it was not, or is not listed. A mutex is
// listed more than once only if it was initialised again while it was held: none of the entries
// holds it any longer.
inline abi::WaitKind release_from(Fiber& fiber, const void* object) {
  abi::WaitKind kind = abi::WaitKind::kNothing;
  std::size_t count = fiber.held_count < Fiber::kMaxHeld ? fiber.held_count : Fiber::kMaxHeld;
  for (std::size_t i = count; i-- > 0;) {
    if (fiber.held[i].object != object) continue;
    kind = fiber.held[i].kind;
    for (std::size_t j = i + 1; j < count; ++j) fiber.held[j - 1] = fiber.held[j];
    --count;
    --fiber.held_count;
    if (kind != abi::WaitKind::kMutex) break;
  }
  return kind;
}

inline void release(const void* object) {
  abi::WaitKind kind = release_from(*g_sched.current, object);
  if (kind == abi::WaitKind::kNothing)
    g_sched.threads.for_each_living([&](Fiber& fiber) {
      if (kind == abi::WaitKind::kNothing) kind = release_from(fiber, object);
    });
  g_sched.announce_sync(Synchronised::Kind::kReleased, object, kind);
}

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SYNC_HELD_H_
