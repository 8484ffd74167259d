#include "runtime/detect/watches.h"

#include "runtime/fiber/own_stack.h"
#include "runtime/libc/heap.h"
#include "runtime/record/points.h"

namespace clew::rt {
namespace {

constexpr std::uint32_t kMaxThreads = 1u << 16;

constinit RaceWatch g_races;
constinit LockOrderWatch g_lock_order;
constinit MemoryWatch g_memory;

AccessKind kind_of(const Step& step) {
  const bool atomic =
      step.point >= abi::PointKind::kAtomicLoad && step.point <= abi::PointKind::kAtomicCas;
  const bool writes = step.kind != abi::StepKind::kRead;
  if (atomic) return writes ? AccessKind::kAtomicWrite : AccessKind::kAtomicRead;
  return writes ? AccessKind::kWrite : AccessKind::kRead;
}

abi::FindingAction action_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return abi::FindingAction::kRead;
    case AccessKind::kWrite:
      return abi::FindingAction::kWrite;
    case AccessKind::kAtomicRead:
      return abi::FindingAction::kAtomicRead;
    case AccessKind::kAtomicWrite:
      break;
  }
  return abi::FindingAction::kAtomicWrite;
}

// Whether compiled code makes this access; calls have steps that look like accesses.
bool is_access_of_code(const Step& step) {
  return step.point != abi::PointKind::kSyncCall && abi::is_access(step.kind);
}

std::uint64_t size_of(const Step& step) { return step.size > 0 ? step.size : 1; }

}  // namespace

bool SeenPairs::add(std::uint64_t a, std::uint64_t b) {
  if (a > b) {
    const std::uint64_t other = a;
    a = b;
    b = other;
  }
  for (std::uint32_t i = 0; i < count_; ++i)
    if (pairs_[i].a == a && pairs_[i].b == b) return false;
  if (count_ == kMost) return false;
  pairs_[count_++] = {a, b};
  return true;
}

// --- races -------------------------------------------------------------------------------------

Hearing RaceWatch::hearing() const {
  return {.topics = kTopicEvents | kTopicThreads | kTopicSync | kTopicMemory,
          .window = Window::all(),
          .looks = Hearing::Looks::kAtEach,
          .repeats = Hearing::Repeats::kUnheard,
          .regions = true};
}

HeldLocks& RaceWatch::locks_of(std::uint32_t thread) {
  if (locks_ == nullptr)
    locks_ = static_cast<HeldLocks**>(g_pool.take_fresh(kMaxThreads * sizeof *locks_));
  CLEW_CHECK(locks_ != nullptr);
  HeldLocks*& locks = locks_[thread % kMaxThreads];
  if (locks == nullptr) locks = g_pool.make<HeldLocks>();
  CLEW_CHECK(locks != nullptr);
  return *locks;
}

// What a thread does alone happens before all that others do: those created later, because it creates
// them; those that were, because they have been joined.
void RaceWatch::before(const Event& event) {
  const Step& step = event.step;
  if (event.thread.index >= kMaxThreads) return;
  if (!is_access_of_code(step)) return look_at_object(event);
  if (step.point == abi::PointKind::kScopeEnd) return detector_.forget(step.object, size_of(step));
  const AccessKind kind = kind_of(step);
  // A lone thread's atomic operations still end the release sequences of others.
  if (event.alone && kind < AccessKind::kAtomicRead) return;
  const RaceDetector::Access access =
      access_of(event.thread.index, kind, step.object, size_of(step), event.clock, step.place);
  if (kind < AccessKind::kAtomicRead) {
    detector_.access(access);
  } else {
    using Atomic = RaceDetector::Atomic;
    detector_.atomic(access,
                     step.point == abi::PointKind::kAtomicLoad    ? Atomic::kLoad
                     : step.point == abi::PointKind::kAtomicStore ? Atomic::kStore
                                                                  : Atomic::kUpdate,
                     step.order);
  }
  tell_if_exhausted();
}

void RaceWatch::accesses(const PlainAccess& access) {
  if (access.alone || access.thread >= kMaxThreads) return;
  detector_.access(access_of(access.thread, access.writes ? AccessKind::kWrite : AccessKind::kRead,
                             access.address, access.size > 0 ? access.size : 1, access.clock,
                             access.place));
  tell_if_exhausted();
}

RaceDetector::Access RaceWatch::access_of(std::uint32_t thread, AccessKind kind,
                                          std::uintptr_t address, std::uint64_t size, Clock clock,
                                          abi::Place place) {
  detector_.on_race(found, this);
  HeldLocks& locks = locks_of(thread);
  if (!locks.has_number()) clew_vectors_untouched = 0;  // a new set is copied by libc
  return {thread,
          kind,
          address,
          size,
          clock,
          static_cast<std::uint32_t>((place & 1) == 0 ? place >> 1 : 0),
          locks.number(sets_)};
}

void RaceWatch::tell_if_exhausted() {
  if (CLEW_LIKELY(!g_pool.exhausted()) || told_exhausted_) return;
  told_exhausted_ = true;
  clew_vectors_untouched = 0;
  g_findings.note("--watch ran out of memory: what came later was not watched in full");
}

// Destroying a mutex is a write to it, and using it an atomic read: the two may not race.
void RaceWatch::look_at_object(const Event& event) {
  const Step& step = event.step;
  const bool uses = step.kind == abi::StepKind::kLock || step.kind == abi::StepKind::kUnlock ||
                    step.kind == abi::StepKind::kWait || step.kind == abi::StepKind::kSignal;
  const bool destroys = step.kind == abi::StepKind::kDestroy;
  // What has no yield point of its own (calls of libraries) has no place that could be told.
  if ((!uses && !destroys) || step.object == 0 || (step.place & 1) != 0 || event.alone) return;
  detector_.on_race(found, this);
  detector_.access({event.thread.index, destroys ? AccessKind::kWrite : AccessKind::kAtomicRead,
                    step.object, 1, event.clock, static_cast<std::uint32_t>(step.place >> 1),
                    locks_of(event.thread.index).number(sets_)});
}

void RaceWatch::found(void* context, const Seen& earlier, const RaceDetector::Access& later,
                      std::uintptr_t address, std::uint32_t size) {
  auto& self = *static_cast<RaceWatch*>(context);
  clew_vectors_untouched = 0;
  if (g_findings.ending() || !self.reported_.add(earlier.point, later.point)) return;
  FoundSomething finding;
  finding.kind = abi::FindingKind::kRace;
  finding.address = address;
  finding.size = size;
  finding.sites_count = 2;
  finding.sites[0] = {.action = action_of(earlier.kind),
                      .thread = earlier.thread,
                      .clock = earlier.event,
                      .place = abi::Place{earlier.point} << 1,
                      .object = address,
                      .size = size,
                      .locks = &self.sets_.get(earlier.locks)};
  finding.sites[1] = {.action = action_of(later.kind),
                      .thread = later.thread,
                      .clock = later.event,
                      .place = abi::Place{later.point} << 1,
                      .object = later.address,
                      .size = later.size,
                      .locks = &self.sets_.get(later.locks)};
  g_findings.report(finding);
}

void RaceWatch::created(const ThreadCreated& thread) {
  if (thread.thread.index < kMaxThreads) detector_.created(thread.parent, thread.thread.index);
}

void RaceWatch::take_lock(const Synchronised& what) {
  const std::uint32_t thread = what.thread.index;
  locks_of(thread).take(what.object, what.lock);
  if (what.lock == abi::WaitKind::kReadLock)
    detector_.acquire(thread, what.object);
  else
    detector_.acquire_write(thread, what.object);
}

void RaceWatch::release_lock(const Synchronised& what) {
  const std::uint32_t thread = what.thread.index;
  locks_of(thread).release(what.object);
  if (what.lock == abi::WaitKind::kReadLock)
    detector_.release_read(thread, what.object);
  else
    detector_.release(thread, what.object);
}

void RaceWatch::synchronised(const Synchronised& what) {
  const std::uint32_t thread = what.thread.index;
  if (thread >= kMaxThreads) return;
  switch (what.kind) {
    case Synchronised::Kind::kTaken:
      return take_lock(what);
    case Synchronised::Kind::kReleased:
      return release_lock(what);
    case Synchronised::Kind::kReleases:
      return detector_.release(thread, what.object);
    case Synchronised::Kind::kAcquires:
      return detector_.acquire(thread, what.object);
    case Synchronised::Kind::kFence:
      return detector_.fence(thread, what.order);
    case Synchronised::Kind::kJoined:
      if (what.object < kMaxThreads)
        detector_.joined(thread, static_cast<std::uint32_t>(what.object));
      return;
    case Synchronised::Kind::kEnded:
      return;
  }
}

// The release was a write at its point. It is kept until the memory is allocated again: whoever uses it
// in between, unordered with the release, races with it.
void RaceWatch::changed(const MemoryChange& change) {
  if (change.kind == MemoryChange::Kind::kFreed) return;
  detector_.forget(change.address, change.size);
}

// --- the order of locks ------------------------------------------------------------------------

Hearing LockOrderWatch::hearing() const {
  // Of each, lest it miss where a variable's scope ends: another lock may lie there next.
  return {.topics = kTopicEvents | kTopicThreads | kTopicSync | kTopicMemory,
          .window = Window::all(),
          .looks = Hearing::Looks::kAtEach,
          .repeats = Hearing::Repeats::kUnheard,
          .regions = true};
}

// What ends here may have been a lock.
void LockOrderWatch::before(const Event& event) {
  if (abi::ends_life(event.step.kind)) order_.forget(event.step.object, size_of(event.step));
}

void LockOrderWatch::created(const ThreadCreated& thread) {
  if (thread.thread.index < kMaxThreads) order_.created(thread.parent, thread.thread.index);
}

void LockOrderWatch::synchronised(const Synchronised& what) {
  const std::uint32_t thread = what.thread.index;
  // The routine of a pthread_once runs once: no other thread can be on its other side again.
  if (thread >= kMaxThreads || what.lock == abi::WaitKind::kOnce) return;
  order_.on_cycle(found, this);
  if (what.kind == Synchronised::Kind::kTaken)
    order_.taken({thread, what.object, what.lock, what.waits, what.clock, what.place});
  else if (what.kind == Synchronised::Kind::kReleased)
    order_.released(thread, what.object);
  else if (what.kind == Synchronised::Kind::kJoined && what.object < kMaxThreads)
    order_.joined(thread, static_cast<std::uint32_t>(what.object));
}

void LockOrderWatch::found(void* context, const LockOrder::Step* const* steps,
                           std::uint32_t count) {
  auto& self = *static_cast<LockOrderWatch*>(context);
  // The same locks in the same order are one finding, wherever they are taken.
  std::uint64_t locks = 0;
  for (std::uint32_t i = 0; i < count; ++i) locks += steps[i]->taken * 0x9e37'79b9'7f4a'7c15;
  if (g_findings.ending() || !self.reported_.add(locks, count)) return;
  FoundSomething finding;
  finding.kind = abi::FindingKind::kLockOrder;
  finding.severity = abi::FindingSeverity::kWarning;
  finding.sites_count = count;
  for (std::uint32_t i = 0; i < count; ++i)
    finding.sites[i] = {.action = abi::FindingAction::kLock,
                        .thread = steps[i]->thread,
                        .clock = steps[i]->event,
                        .place = steps[i]->place,
                        .object = steps[i]->taken,
                        .locks = steps[i]->locks};
  g_findings.report(finding);
}

void LockOrderWatch::changed(const MemoryChange& change) {
  order_.forget(change.address, change.size);
}

// --- freed memory ------------------------------------------------------------------------------

Hearing MemoryWatch::hearing() const {
  return {.topics = kTopicEvents | kTopicMemory,
          .window = Window::all(),
          .looks = Hearing::Looks::kAtEach,
          .repeats = Hearing::Repeats::kUnheard,
          .regions = true};
}

void MemoryWatch::before(const Event& event) {
  const Step& step = event.step;
  if (!is_access_of_code(step) || step.point == abi::PointKind::kScopeEnd) return;
  if (step.kind == abi::StepKind::kFree) {
    freeing_ = {step.object, event.thread.index, event.clock, step.place};
    return;  // whether it was freed before is seen when it is
  }
  use({.action = action_of(kind_of(step)),
       .thread = event.thread.index,
       .clock = event.clock,
       .place = step.place,
       .object = step.object,
       .size = size_of(step)});
}

void MemoryWatch::accesses(const PlainAccess& access) {
  use({.action = access.writes ? abi::FindingAction::kWrite : abi::FindingAction::kRead,
       .thread = access.thread,
       .clock = access.clock,
       .place = access.place,
       .object = access.address,
       .size = access.size > 0 ? access.size : 1});
}

void MemoryWatch::use(const FindingSite& site) {
  const FreedMemory::Block* block = memory_.used(site.object, site.size);
  if (CLEW_UNLIKELY(block != nullptr)) report(*block, site);
}

void MemoryWatch::changed(const MemoryChange& change) {
  const abi::Place caller = change.caller != nullptr ? place_of_code(change.caller) : 0;
  const std::uint32_t thread = change.thread.index;
  if (change.kind == MemoryChange::Kind::kReplaced)
    return memory_.forget(change.address, change.size);
  if (change.kind == MemoryChange::Kind::kAllocated)
    return memory_.allocated(change.address, change.size, {thread, change.clock, caller});
  const bool at_point = freeing_.address == change.address && freeing_.thread == thread &&
                        freeing_.event == change.clock;
  const abi::Place place = at_point ? freeing_.place : caller;
  const FreedMemory::Block* before =
      memory_.freed(change.address, change.size, {thread, change.clock, place});
  if (before == nullptr) return;
  report(*before, {.action = abi::FindingAction::kFree,
                   .thread = thread,
                   .clock = change.clock,
                   .place = place,
                   .object = change.address,
                   .size = change.size});
}

void MemoryWatch::report(const FreedMemory::Block& block, const FindingSite& now) {
  clew_vectors_untouched = 0;
  if (g_findings.ending() || !reported_.add(now.place, block.freed.place)) return;
  FoundSomething finding;
  finding.kind = abi::FindingKind::kMemory;
  finding.address = now.object;
  finding.size = now.size;
  finding.sites[0] = now;
  finding.sites[1] = {.action = abi::FindingAction::kFree,
                      .thread = block.freed.thread,
                      .clock = block.freed.event,
                      .place = block.freed.place,
                      .object = block.address,
                      .size = block.size};
  finding.sites_count = 2;
  if (block.allocated.place != 0) {
    finding.sites[2] = {.action = abi::FindingAction::kAllocate,
                        .thread = block.allocated.thread,
                        .clock = block.allocated.event,
                        .place = block.allocated.place,
                        .object = block.address,
                        .size = block.size};
    finding.sites_count = 3;
  }
  g_findings.report(finding);
}

// --- all of them -------------------------------------------------------------------------------

void add_watches(const abi::Control& control) {
  g_findings.begin(control.flags);
  if (g_findings.watches(abi::FindingKind::kRace)) g_listeners.add(g_races, g_races.hearing());
  if (g_findings.watches(abi::FindingKind::kLockOrder))
    g_listeners.add(g_lock_order, g_lock_order.hearing());
  if (!g_findings.watches(abi::FindingKind::kMemory)) return;
  find_allocator();
  if (knows_allocator())
    g_listeners.add(g_memory, g_memory.hearing());
  else
    g_findings.note(
        "--watch memory: the program has an allocator of its own, whose memory is not watched");
}

}  // namespace clew::rt
