#include "runtime/detect/race_detector.h"

namespace clew::rt {
namespace {

bool acquires(abi::MemoryOrder order) {
  return order != abi::MemoryOrder::kRelaxed && order != abi::MemoryOrder::kRelease;
}
bool releases(abi::MemoryOrder order) {
  return order != abi::MemoryOrder::kRelaxed && order != abi::MemoryOrder::kAcquire;
}

// Whether whatever conflicts with `old` conflicts with `now`: then the later of two that are ordered
// stands for both.
bool covers(AccessKind now, AccessKind old) {
  switch (now) {
    case AccessKind::kWrite:
      return true;
    case AccessKind::kRead:
      return old == AccessKind::kRead || old == AccessKind::kAtomicRead;
    case AccessKind::kAtomicWrite:
      return old == AccessKind::kAtomicWrite || old == AccessKind::kAtomicRead;
    case AccessKind::kAtomicRead:
      return old == AccessKind::kAtomicRead;
  }
  return false;
}

}  // namespace

RaceDetector::Thread& RaceDetector::thread_of(std::uint32_t thread) {
  if (threads_ == nullptr)
    threads_ = static_cast<Thread**>(g_pool.take_fresh(kMaxThreads * sizeof(Thread*)));
  CLEW_CHECK(threads_ != nullptr);
  Thread*& found = threads_[thread % kMaxThreads];
  if (CLEW_UNLIKELY(found == nullptr)) {
    found = g_pool.make<Thread>();
    CLEW_CHECK(found != nullptr);
    found->clock.set(thread, 1);
  }
  return *found;
}

void RaceDetector::access(const Access& access) {
  const Thread& thread = thread_of(access.thread);
  const std::uintptr_t end = access.address + access.size;
  for (std::uintptr_t at = access.address; at < end;) {
    const std::uintptr_t granule = at & ~(kGranule - 1);
    const std::uintptr_t next = granule + kGranule;
    const auto first = static_cast<unsigned>(at - granule);
    const auto last = static_cast<unsigned>((end < next ? end : next) - granule);
    Cell* cell = shadow_.at(at);
    if (cell == nullptr) return;
    look(*cell, access, thread, granule, ((1u << last) - 1) & ~((1u << first) - 1));
    at = next;
  }
}

void RaceDetector::look(Cell& cell, const Access& access, const Thread& thread,
                        std::uintptr_t granule, std::uint32_t bytes) {
  const std::uint32_t epoch = thread.clock.of(access.thread);
  // What the thread has done since it last synchronised covers this: it was compared then, and those
  // that came later were compared with it.
  for (const Seen& seen : cell.seen)
    if (seen.thread == access.thread && seen.epoch == epoch && seen.locks == access.locks &&
        (bytes & ~seen.bytes) == 0 && covers(seen.kind, access.kind))
      return;
  for (Seen& seen : cell.seen)
    if ((seen.bytes & bytes) != 0) compare(seen, access, thread, granule, bytes);
  for (More** link = &cell.more; More* more = *link;) {
    if ((more->seen.bytes & bytes) != 0) compare(more->seen, access, thread, granule, bytes);
    if (more->seen.bytes != 0) {
      link = &more->next;
    } else {
      *link = more->next;
      g_pool.drop(more);
    }
  }
  Seen now{};
  now.event = access.event;
  now.bytes = bytes;
  now.kind = access.kind;
  now.epoch = epoch;
  now.point = access.point;
  now.thread = static_cast<std::uint16_t>(access.thread);
  now.locks = access.locks;
  keep(cell, now);
}

bool RaceDetector::compare(Seen& seen, const Access& access, const Thread& thread,
                           std::uintptr_t granule, std::uint32_t bytes) {
  const std::uint32_t common = static_cast<std::uint32_t>(seen.bytes) & bytes;
  const bool ordered = seen.thread == access.thread || seen.epoch <= thread.clock.of(seen.thread);
  const bool races = !ordered && conflicts(seen.kind, access.kind);
  if (races && report_ != nullptr) {
    const auto first = static_cast<unsigned>(__builtin_ctz(common));
    const auto last = 32 - static_cast<unsigned>(__builtin_clz(common));
    report_(context_, seen, access, granule + first, last - first);
  }
  // A race is told once for its bytes: the newer access stands for both from here on.
  if ((ordered || races) && covers(access.kind, seen.kind)) seen.bytes &= ~bytes;
  return races;
}

void RaceDetector::keep(Cell& cell, const Seen& seen) {
  for (Seen& free : cell.seen) {
    if (free.bytes != 0) continue;
    free = seen;
    return;
  }
  More* more = g_pool.make<More>();
  if (more == nullptr) return;
  more->seen = cell.seen[0];
  more->next = cell.more;
  cell.more = more;
  cell.seen[0] = seen;  // the newest is looked at first
}

// --- atomics -----------------------------------------------------------------------------------

void RaceDetector::atomic(const Access& now, Atomic what, abi::MemoryOrder order) {
  access(now);
  Thread& thread = thread_of(now.thread);
  if (what == Atomic::kLoad) {
    const Object* object = find_object(now.address);
    if (object == nullptr) return;
    (acquires(order) ? thread.clock : thread.to_acquire).join(object->released);
    return;
  }
  const bool orders = releases(order) || thread.has_fence;
  Object* object = orders ? object_at(now.address) : find_object(now.address);
  if (object == nullptr) return;
  if (what == Atomic::kUpdate)
    (acquires(order) ? thread.clock : thread.to_acquire).join(object->released);
  // A store begins a release sequence, or ends that of another thread; an update continues it.
  // (Relaxed stores of the thread that released continue it as well, as they did before C++20.)
  const VectorClock* released = releases(order)    ? &thread.clock
                                : thread.has_fence ? &thread.fence_released
                                                   : nullptr;
  if (what == Atomic::kStore && object->last_store != now.thread) object->released.clear();
  if (what == Atomic::kStore) object->last_store = now.thread;
  if (released != nullptr) object->released.join(*released);
  if (releases(order)) thread.clock.tick(now.thread);
}

void RaceDetector::fence(std::uint32_t index, abi::MemoryOrder order) {
  Thread& thread = thread_of(index);
  if (acquires(order)) {
    thread.clock.join(thread.to_acquire);
    thread.to_acquire.clear();
  }
  if (!releases(order)) return;
  thread.fence_released.assign(thread.clock);
  thread.has_fence = true;
  thread.clock.tick(index);
}

// --- threads and objects -----------------------------------------------------------------------

void RaceDetector::created(std::uint32_t parent, std::uint32_t index) {
  Thread& from = thread_of(parent);
  Thread& thread = thread_of(index);
  thread.clock.join(from.clock);
  from.clock.tick(parent);
}

void RaceDetector::joined(std::uint32_t index, std::uint32_t ended) {
  thread_of(index).clock.join(thread_of(ended).clock);
}

RaceDetector::Object* RaceDetector::find_object(std::uintptr_t address) const {
  const Cell* cell = shadow_.find(address);
  Object* object = cell != nullptr ? cell->objects : nullptr;
  while (object != nullptr && object->address != address) object = object->next;
  return object;
}

RaceDetector::Object* RaceDetector::object_at(std::uintptr_t address) {
  if (Object* found = find_object(address)) return found;
  Cell* cell = shadow_.at(address);
  Object* object = cell != nullptr ? g_pool.make<Object>() : nullptr;
  if (object == nullptr) return nullptr;
  object->address = address;
  object->next = cell->objects;
  cell->objects = object;
  return object;
}

void RaceDetector::release(std::uint32_t index, std::uintptr_t address) {
  Object* object = object_at(address);
  Thread& thread = thread_of(index);
  if (object != nullptr) object->released.join(thread.clock);
  thread.clock.tick(index);
}

void RaceDetector::acquire(std::uint32_t index, std::uintptr_t address) {
  if (const Object* object = find_object(address)) thread_of(index).clock.join(object->released);
}

void RaceDetector::release_read(std::uint32_t index, std::uintptr_t address) {
  Object* object = object_at(address);
  Thread& thread = thread_of(index);
  if (object != nullptr) object->reads.join(thread.clock);
  thread.clock.tick(index);
}

void RaceDetector::acquire_write(std::uint32_t index, std::uintptr_t address) {
  const Object* object = find_object(address);
  if (object == nullptr) return;
  thread_of(index).clock.join(object->released);
  thread_of(index).clock.join(object->reads);
}

void RaceDetector::drop_objects(Cell& cell, std::uintptr_t begin, std::uintptr_t end) {
  for (Object** link = &cell.objects; Object* object = *link;) {
    if (object->address < begin || object->address >= end) {
      link = &object->next;
      continue;
    }
    *link = object->next;
    object->released.drop();
    object->reads.drop();
    g_pool.drop(object);
  }
}

void RaceDetector::forget(std::uintptr_t begin, std::uint64_t size) {
  const std::uintptr_t end = begin + size;
  shadow_.each(begin, end, [&](std::uintptr_t granule, Cell& cell) {
    const auto first = begin > granule ? static_cast<unsigned>(begin - granule) : 0;
    const auto last = end < granule + kGranule ? static_cast<unsigned>(end - granule) : 8u;
    const std::uint32_t bytes = ((1u << last) - 1) & ~((1u << first) - 1);
    for (Seen& seen : cell.seen) seen.bytes &= ~bytes;
    for (More** link = &cell.more; More* more = *link;) {
      more->seen.bytes &= ~bytes;
      if (more->seen.bytes != 0) {
        link = &more->next;
      } else {
        *link = more->next;
        g_pool.drop(more);
      }
    }
    if (cell.objects != nullptr) drop_objects(cell, begin, end);
  });
}

}  // namespace clew::rt
