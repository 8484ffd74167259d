#include "runtime/detect/lock_order.h"

namespace clew::rt {
namespace {

bool is_read(abi::WaitKind kind) { return kind == abi::WaitKind::kReadLock; }

// Whether a lock that both hold keeps them from standing there at the same time.
bool have_gate(const Lockset& a, const Lockset& b) {
  for (std::uint32_t i = 0; i < a.count; ++i)
    for (std::uint32_t j = 0; j < b.count; ++j)
      if (a.held[i].object == b.held[j].object &&
          !(is_read(a.held[i].kind) && is_read(b.held[j].kind)))
        return true;
  return false;
}

}  // namespace

LockOrder::Thread& LockOrder::thread_of(std::uint32_t thread) {
  if (threads_ == nullptr)
    threads_ = static_cast<Thread**>(g_pool.take_fresh(kMaxThreads * sizeof(Thread*)));
  CLEW_CHECK(threads_ != nullptr);
  Thread*& found = threads_[thread % kMaxThreads];
  if (found == nullptr) {
    found = g_pool.make<Thread>();
    CLEW_CHECK(found != nullptr);
    found->clock.set(thread, 1);
  }
  return *found;
}

const VectorClock* LockOrder::snapshot_of(Thread& thread) {
  if (thread.snapshot != nullptr) return thread.snapshot;
  auto* snapshot = g_pool.make<VectorClock>();
  if (snapshot != nullptr) snapshot->assign(thread.clock);
  return thread.snapshot = snapshot;
}

void LockOrder::created(std::uint32_t parent, std::uint32_t index) {
  Thread& from = thread_of(parent);
  Thread& thread = thread_of(index);
  thread.clock.join(from.clock);
  from.clock.tick(parent);
  from.snapshot = thread.snapshot = nullptr;
}

void LockOrder::joined(std::uint32_t index, std::uint32_t ended) {
  Thread& thread = thread_of(index);
  thread.clock.join(thread_of(ended).clock);
  thread.clock.tick(index);
  thread.snapshot = nullptr;
}

void LockOrder::taken(const Taking& taking) {
  Thread& thread = thread_of(taking.thread);
  const Lockset& set = thread.locks.set();
  if (taking.waits && set.count > 0) {
    Step step{};
    step.thread = taking.thread;
    step.taken = taking.lock;
    step.taken_reading = is_read(taking.kind);
    step.locks = &sets_.get(thread.locks.number(sets_));
    step.segment = thread.clock.of(taking.thread);
    step.ordered = snapshot_of(thread);
    step.event = taking.event;
    step.place = taking.place;
    for (std::uint32_t i = 0; step.ordered != nullptr && i < set.count; ++i) {
      step.held = set.held[i].object;
      step.held_reading = is_read(set.held[i].kind);
      if (step.held != step.taken) add(step);
    }
  }
  thread.locks.take(taking.lock, taking.kind);
}

void LockOrder::released(std::uint32_t thread, std::uintptr_t lock) {
  thread_of(thread).locks.release(lock);
}

bool LockOrder::add(const Step& step) {
  Step*& bucket = steps_[bucket_of(step.held)];
  for (const Step* known = bucket; known != nullptr; known = known->next)
    if (known->held == step.held && known->taken == step.taken && known->thread == step.thread &&
        known->locks == step.locks && known->ordered == step.ordered &&
        known->held_reading == step.held_reading && known->taken_reading == step.taken_reading)
      return false;
  Step* kept = g_pool.make<Step>();
  if (kept == nullptr) return false;
  *kept = step;
  kept->next = bucket;
  bucket = kept;
  for (const std::uintptr_t lock : {step.held, step.taken}) {
    if (lock < lowest_) lowest_ = lock;
    if (lock > highest_) highest_ = lock;
  }
  const Step* path[kMostSteps] = {kept};
  std::uint32_t looks = 0;
  search(path, 1, looks);
  return true;
}

// Whether two threads can stand at these steps at the same time.
bool LockOrder::can_meet(const Step& a, const Step& b) {
  if (a.thread == b.thread || have_gate(*a.locks, *b.locks)) return false;
  return a.segment > b.ordered->of(a.thread) && b.segment > a.ordered->of(b.thread);
}

// All paths from the last step on that lead back to the first.
void LockOrder::search(const Step** path, std::uint32_t length, std::uint32_t& looks) {
  const Step& last = *path[length - 1];
  const Step& first = *path[0];
  if (length > 1 && last.taken == first.held && !(last.taken_reading && first.held_reading)) {
    if (report_ != nullptr) report_(context_, path, length);
    return;
  }
  if (length == kMostSteps) return;
  for (const Step* next = steps_[bucket_of(last.taken)]; next != nullptr; next = next->next) {
    if (next->held != last.taken || ++looks > kMostLooks) continue;
    if (last.taken_reading && next->held_reading) continue;
    bool fits = true;
    for (std::uint32_t i = 0; fits && i < length; ++i) fits = can_meet(*path[i], *next);
    if (!fits) continue;
    path[length] = next;
    search(path, length + 1, looks);
  }
}

void LockOrder::forget(std::uintptr_t begin, std::uint64_t size) {
  const std::uintptr_t end = begin + size;
  if (end <= lowest_ || begin > highest_) return;
  const auto is_gone = [&](std::uintptr_t lock) { return lock >= begin && lock < end; };
  for (Step*& bucket : steps_)
    for (Step** link = &bucket; Step* step = *link;) {
      if (!is_gone(step->held) && !is_gone(step->taken)) {
        link = &step->next;
        continue;
      }
      *link = step->next;
      g_pool.drop(step);
    }
}

}  // namespace clew::rt
