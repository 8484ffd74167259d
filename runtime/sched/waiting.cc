// Waiting for objects and for time. Waiters are found by the address of the object, in a
// fixed table of buckets, so that the objects themselves need no room for a queue.
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {
constexpr Nanos kSafety = 1'000'000'000;
}

Scheduler::Bucket& Scheduler::bucket_of(const void* object) {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  return buckets_[((address >> 2) * 0x9e3779b97f4a7c15ull) >> 54];
}

bool Scheduler::block(abi::WaitKind kind, const void* object, Nanos deadline) {
  settle_clock();
  Fiber* fiber = current;
  fiber->wait_kind = kind;
  fiber->wait_object = object;
  fiber->deadline = deadline;
  fiber->timed_out = false;
  fiber->state = FiberState::kBlocked;
  if (kind != abi::WaitKind::kSleep && object != nullptr) {
    Bucket& bucket = bucket_of(object);
    fiber->next = nullptr;
    fiber->previous = bucket.tail;
    (bucket.tail != nullptr ? bucket.tail->next : bucket.head) = fiber;
    bucket.tail = fiber;
  }
  if (deadline != kForever) {
    add_timer(fiber);
    // A wait that is given seconds means "for ever, but do not hang": that its time runs out while
    // others could run is possible, but nobody would call it a bug. A sleep is only a hint.
    const bool in_earnest = kind == abi::WaitKind::kSleep || deadline - now_settled() < kSafety;
    if (!queue_.empty() && in_earnest && choose(abi::ChoiceKind::kTimeout) != 0)
      let_time_pass_until(deadline);
  }
  idle_yields_ = 0;
  switch_to(next_to_run(), abi::SliceEnd::kBlocked);
  fiber->wait_kind = abi::WaitKind::kNothing;
  return !fiber->timed_out;
}

void Scheduler::unlink_waiter(Fiber* fiber) {
  if (fiber->wait_object == nullptr || fiber->wait_kind == abi::WaitKind::kSleep) return;
  Bucket& bucket = bucket_of(fiber->wait_object);
  (fiber->previous != nullptr ? fiber->previous->next : bucket.head) = fiber->next;
  (fiber->next != nullptr ? fiber->next->previous : bucket.tail) = fiber->previous;
  fiber->next = fiber->previous = nullptr;
}

void Scheduler::make_runnable(Fiber* fiber) {
  if (fiber->deadline != kForever) remove_timer(fiber);
  fiber->wait_object = nullptr;
  fiber->state = FiberState::kRunnable;
  enqueue(fiber);
}

void Scheduler::enqueue(Fiber* fiber) {
  if (queue_.empty()) company_since_ = clock();
  queue_.push(fiber);
}

namespace {
bool waits_for(const Fiber& fiber, const void* object, std::uint32_t bits) {
  return fiber.wait_object == object &&
         (fiber.wait_kind != abi::WaitKind::kFutex || (fiber.wait_bits & bits) != 0);
}

Fiber* next_waiter(Fiber* from, const void* object, std::uint32_t bits) {
  while (from != nullptr && !waits_for(*from, object, bits)) from = from->next;
  return from;
}
}  // namespace

// The longest waiting, unless the strategy chooses another.
Fiber* Scheduler::waiter_to_wake(const void* object, std::uint32_t bits) {
  Fiber* const first = next_waiter(bucket_of(object).head, object, bits);
  if (first == nullptr || next_waiter(first->next, object, bits) == nullptr) return first;
  settle_clock();
  const Question question = next_question();
  questions |= 1u << static_cast<unsigned>(abi::ChoiceKind::kWake);
  if (!(choices_ & 1u << static_cast<unsigned>(abi::ChoiceKind::kWake))) return first;
  Fiber* chosen = first;
  if (strategy_->follows()) {
    const Fiber* wanted = strategy_->follow(abi::ChoiceKind::kWake, question);
    for (Fiber* f = first; f != nullptr; f = next_waiter(f->next, object, bits))
      if (f == wanted) chosen = f;
  } else {
    std::uint32_t count = 0;
    for (Fiber* f = first; f != nullptr; f = next_waiter(f->next, object, bits)) ++count;
    std::uint32_t answer = strategy_->choose(abi::ChoiceKind::kWake, count);
    for (; answer > 0 && chosen != nullptr; --answer)
      chosen = next_waiter(chosen->next, object, bits);
    if (chosen == nullptr) chosen = first;
  }
  if (chosen != first) note_choice(abi::ChoiceKind::kWake, question, chosen->index, chosen->key);
  return chosen;
}

Fiber* Scheduler::wake_one(const void* object, std::uint32_t bits) {
  Fiber* fiber = waiter_to_wake(object, bits);
  if (fiber == nullptr) return nullptr;
  unlink_waiter(fiber);
  make_runnable(fiber);
  return fiber;
}

// In order of waiting: all of them become ready, and which runs first is decided then.
std::uint32_t Scheduler::wake_all(const void* object) {
  std::uint32_t woken = 0;
  while (Fiber* fiber = next_waiter(bucket_of(object).head, object, ~0u)) {
    unlink_waiter(fiber);
    make_runnable(fiber);
    ++woken;
  }
  return woken;
}

bool Scheduler::requeue_one(const void* from, const void* to) {
  for (Fiber* f = bucket_of(from).head; f != nullptr; f = f->next) {
    if (f->wait_object != from) continue;
    unlink_waiter(f);
    f->wait_object = to;
    Bucket& bucket = bucket_of(to);
    f->previous = bucket.tail;
    (bucket.tail != nullptr ? bucket.tail->next : bucket.head) = f;
    bucket.tail = f;
    return true;
  }
  return false;
}

bool Scheduler::has_waiter(const void* object, abi::WaitKind kind) const {
  const Bucket& bucket = const_cast<Scheduler*>(this)->bucket_of(object);
  for (const Fiber* f = bucket.head; f != nullptr; f = f->next)
    if (f->wait_object == object && f->wait_kind == kind) return true;
  return false;
}

void Scheduler::add_timer(Fiber* fiber) {
  Fiber** slot = &timers_;
  while (*slot != nullptr && (*slot)->deadline <= fiber->deadline) slot = &(*slot)->next_timer;
  fiber->next_timer = *slot;
  *slot = fiber;
}

void Scheduler::remove_timer(Fiber* fiber) {
  for (Fiber** slot = &timers_; *slot != nullptr; slot = &(*slot)->next_timer) {
    if (*slot != fiber) continue;
    *slot = fiber->next_timer;
    break;
  }
  fiber->deadline = kForever;
}

// REQUIRES: the clock is settled.
void Scheduler::fire_timers() {
  while (timers_ != nullptr && timers_->deadline <= now_settled()) {
    Fiber* fiber = timers_;
    unlink_waiter(fiber);
    fiber->timed_out = true;
    make_runnable(fiber);
  }
}

// REQUIRES: the clock is settled.
void Scheduler::let_time_pass_until(Nanos deadline) {
  const Nanos left = deadline - now_settled();
  if (left > 0) skew_ += left;
  fire_timers();
}

void Scheduler::pass_time(Nanos t) {
  skew_ += t;
  if (timers_ == nullptr || timers_->deadline > now() || current->no_yield != 0) return;
  settle_clock();  // a deadline was passed: the next point must look
  limit_ = clock_ + 1;
  if (!at_every_point_) attention_ = limit_;
  *current->countdown = 0;
}

Nanos Scheduler::now() const { return static_cast<Nanos>(clock()) * kNanosPerPoint + skew_; }

}  // namespace clew::rt
