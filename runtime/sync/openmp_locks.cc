#include "runtime/sync/openmp_locks.h"

#include "runtime/arena.h"
#include "runtime/sync/held.h"

namespace clew::rt {
namespace {

// What is known of a lock. It is never freed: the next lock at its address reuses it.
struct Lock {
  Lock* next = nullptr;
  const void* address = nullptr;
  const Fiber* holder = nullptr;
};

Lock* g_locks[1024];  // by the upper ten bits of a hash

Lock** bucket_of(const void* address) {
  const auto hash = reinterpret_cast<std::uintptr_t>(address) * 0x9e37'79b9'7f4a'7c15;
  return &g_locks[hash >> 54];
}

Lock* find(const void* address) {
  Lock* lock = *bucket_of(address);
  while (lock != nullptr && lock->address != address) lock = lock->next;
  return lock;
}

Lock& lock_at(const void* address) {
  if (Lock* known = find(address)) return *known;
  Lock*& head = *bucket_of(address);
  Lock* made = arena_new<Lock>();
  made->next = head;
  made->address = address;
  head = made;
  return *made;
}

}  // namespace

bool openmp_lock_is_free(const Fiber& fiber) {
  const Lock* lock = find(reinterpret_cast<const void*>(fiber.reached.step.object));
  return lock == nullptr || lock->holder == nullptr || lock->holder == &fiber;
}

void wait_for_openmp_lock(const void* address, OpenMpLocking locking) {
  const Fiber* self = g_sched.current;
  if (self->no_yield != 0) return;
  const Lock& lock = lock_at(address);
  while (lock.holder != nullptr && (lock.holder != self || locking == OpenMpLocking::kOnce))
    g_sched.block(abi::WaitKind::kOpenMpLock, address, kForever);
}

void openmp_lock_taken(const void* address, const void* caller) {
  lock_at(address).holder = g_sched.current;
  hold(abi::WaitKind::kOpenMpLock, address, caller);
}

void openmp_lock_released(const void* address) {
  lock_at(address).holder = nullptr;
  release(address);
  g_sched.wake_one(address);
}

}  // namespace clew::rt
