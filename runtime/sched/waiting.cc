// Waiting for objects and for time. Waiters are found by the address of the object, in a
// fixed table of buckets, so that the objects themselves need no room for a queue.
#include "runtime/outside/asks.h"
#include "runtime/record/log.h"
#include "runtime/sched/scheduler.h"
#include "runtime/signal/attend.h"

namespace clew::rt {
namespace {
constexpr Nanos kSafety = 1'000'000'000;
}

Woke Scheduler::block(abi::WaitKind kind, const void* object, Nanos deadline, unsigned ended_by) {
  Wait wait;
  wait.kind = kind;
  wait.object = object;
  return block(wait, deadline, ended_by);
}

Woke Scheduler::block(Wait& wait, Nanos deadline, unsigned ended_by) {
  settle_clock();
  Fiber* fiber = current;
  wait.fiber = fiber;
  wait.outer = fiber->wait;
  wait.timer.fire = wait_timed_out;
  fiber->wait = &wait;
  fiber->state = FiberState::kBlocked;
  if (wait.object != nullptr) link(wait);
  if (deadline != kForever) {
    arm(wait.timer, deadline);
    if (time_ran_out_early(wait)) let_time_pass_until(deadline);
  }
  idle_yields_ = 0;
  Attended attended;
  bool late = false;  // before a handler ran
  for (;;) {
    // A signal that came before the wait is attended to in it, as if it had come just after.
    if (fiber->disturbed && fiber->state == FiberState::kBlocked) {
      fiber->state = FiberState::kRunning;
    } else {
      settle_clock();
      switch_to(next_to_run(), abi::SliceEnd::kBlocked);
    }
    if (fiber->disturbed) {
      late = wait.timed_out;
      wait.disturbed = now();
      attended = attend(*fiber, ended_by);
    }
    if (wait.over() || attended.ends(ended_by)) break;
    fiber->state = FiberState::kBlocked;
  }
  fiber->wait = wait.outer;
  const bool to_look_again = wait.polls && attended.ends(ended_by);
  if (wait.woken && !to_look_again) return Woke::kByObject;
  // If the time ran out while the handler ran, the signal came first.
  if (wait.timed_out && (late || !attended.ends(ended_by))) return Woke::kByTime;
  if (!wait.timed_out) unlink(wait);
  disarm(wait.timer);
  return attended.cancelled ? Woke::kByCancel : Woke::kBySignal;
}

// Whether the strategy lets the time of a wait run out while others could run. A wait that is given
// seconds means "for ever, but do not hang": that its time runs out then is possible, but nobody
// would call it a bug. A sleep is only a hint.
bool Scheduler::time_ran_out_early(const Wait& wait) {
  const bool in_earnest =
      wait.kind == abi::WaitKind::kSleep || wait.timer.deadline - now_settled() < kSafety;
  return !queue_.empty() && in_earnest && choose(abi::ChoiceKind::kTimeout) != 0;
}

void Scheduler::disturb(Fiber* fiber) {
  fiber->disturbed = true;
  if (fiber->state == FiberState::kBlocked) make_runnable(fiber);
}

void Scheduler::wake(Wait& wait) {
  if (wait.over()) return;
  disarm(wait.timer);
  wait.woken = true;
  over(wait);
}

void Scheduler::abandon_waits_below(std::uintptr_t stack, std::uintptr_t own) {
  const auto is_left = [&](const Wait* wait) {
    const auto address = reinterpret_cast<std::uintptr_t>(wait);
    return address < (is_on_own_stack(address) ? own : stack);
  };
  for (Wait*& wait = current->wait; wait != nullptr && is_left(wait); wait = wait->outer)
    abandon(*wait);
}

void Scheduler::abandon(Wait& wait) {
  if (wait.outside) g_asks.forget(reinterpret_cast<OutsideWait&>(wait));
  if (wait.over()) return;
  unlink(wait);
  disarm(wait.timer);
}

void Scheduler::link(Wait& wait) {
  Bucket& bucket = bucket_of(wait.object);
  wait.next = nullptr;
  wait.previous = bucket.tail;
  (bucket.tail != nullptr ? bucket.tail->next : bucket.head) = &wait;
  bucket.tail = &wait;
}

void Scheduler::unlink(Wait& wait) {
  if (wait.object == nullptr) return;
  Bucket& bucket = bucket_of(wait.object);
  (wait.previous != nullptr ? wait.previous->next : bucket.head) = wait.next;
  (wait.next != nullptr ? wait.next->previous : bucket.tail) = wait.previous;
  wait.next = wait.previous = nullptr;
}

// A thread that attends to a signal runs already, or waits for something else in its handler: it
// finds out afterwards.
void Scheduler::over(Wait& wait) {
  if (wait.fiber->wait == &wait && wait.fiber->state == FiberState::kBlocked)
    make_runnable(wait.fiber);
}

void Scheduler::make_runnable(Fiber* fiber) {
  fiber->state = FiberState::kRunnable;
  enqueue(fiber);
}

void Scheduler::enqueue(Fiber* fiber) {
  if (queue_.empty()) company_since_ = clock();
  queue_.push(fiber);
}

namespace {
bool is_for(const Wait& wait, const void* object, std::uint32_t bits) {
  return wait.object == object && (wait.bits & bits) != 0;
}

Wait* next_waiter(Wait* from, const void* object, std::uint32_t bits) {
  while (from != nullptr && !is_for(*from, object, bits)) from = from->next;
  return from;
}
}  // namespace

// The longest waiting, unless the strategy chooses another.
Wait* Scheduler::waiter_to_wake(const void* object, std::uint32_t bits) {
  Wait* const first = next_waiter(bucket_of(object).head, object, bits);
  if (first == nullptr || next_waiter(first->next, object, bits) == nullptr) return first;
  settle_clock();
  const Question question = next_question();
  questions |= 1u << static_cast<unsigned>(abi::ChoiceKind::kWake);
  if (!(choices_ & 1u << static_cast<unsigned>(abi::ChoiceKind::kWake))) return first;
  Wait* chosen = first;
  if (strategy_->follows()) {
    const Fiber* wanted = strategy_->follow(abi::ChoiceKind::kWake, question);
    for (Wait* w = first; w != nullptr; w = next_waiter(w->next, object, bits))
      if (w->fiber == wanted) chosen = w;
  } else {
    std::uint32_t count = 0;
    for (Wait* w = first; w != nullptr; w = next_waiter(w->next, object, bits)) ++count;
    std::uint32_t answer = strategy_->choose(abi::ChoiceKind::kWake, count);
    for (; answer > 0 && chosen != nullptr; --answer)
      chosen = next_waiter(chosen->next, object, bits);
    if (chosen == nullptr) chosen = first;
  }
  if (chosen != first)
    note_choice(abi::ChoiceKind::kWake, question, chosen->fiber->index, chosen->fiber->key);
  return chosen;
}

Fiber* Scheduler::wake_waiter(const void* object, std::uint32_t bits) {
  Wait* wait = waiter_to_wake(object, bits);
  if (wait == nullptr) return nullptr;
  unlink(*wait);
  wake(*wait);
  return wait->fiber;
}

// In order of waiting: all of them become ready, and which runs first is decided then.
std::uint32_t Scheduler::wake_all(const void* object) {
  std::uint32_t woken = 0;
  while (Wait* wait = next_waiter(bucket_of(object).head, object, ~0u)) {
    unlink(*wait);
    wake(*wait);
    ++woken;
  }
  return woken;
}

bool Scheduler::requeue_one(const void* from, const void* to) {
  Wait* wait = next_waiter(bucket_of(from).head, from, ~0u);
  if (wait == nullptr) return false;
  unlink(*wait);
  wait->object = to;
  link(*wait);
  return true;
}

bool Scheduler::has_waiter(const void* object, abi::WaitKind kind) const {
  const Bucket& bucket = const_cast<Scheduler*>(this)->bucket_of(object);
  for (const Wait* w = bucket.head; w != nullptr; w = w->next)
    if (w->object == object && w->kind == kind) return true;
  return false;
}

// --- time --------------------------------------------------------------------------------------

// Behind those that are due at the same time.
void Scheduler::arm(Timer& timer, Nanos deadline) {
  disarm(timer);
  timer.deadline = deadline;
  Timer** slot = &timers_;
  while (*slot != nullptr && (*slot)->deadline <= deadline) slot = &(*slot)->next;
  timer.next = *slot;
  *slot = &timer;
}

void Scheduler::disarm(Timer& timer) {
  if (timer.deadline == kForever) return;
  timer.deadline = kForever;
  for (Timer** slot = &timers_; *slot != nullptr; slot = &(*slot)->next) {
    if (*slot != &timer) continue;
    *slot = timer.next;
    return;
  }
}

void Scheduler::wait_timed_out(Timer& timer) {
  Wait& wait = reinterpret_cast<Wait&>(timer);
  g_sched.unlink(wait);
  wait.timed_out = true;
  g_sched.over(wait);
}

// REQUIRES: the clock is settled.
void Scheduler::fire_timers() {
  while (timers_ != nullptr && timers_->deadline <= now_settled()) {
    Timer& timer = *timers_;
    timers_ = timer.next;
    timer.deadline = kForever;
    timer.fire(timer);
  }
}

void Scheduler::pass_idle_time(Nanos t) {
  skew_ += t;
  idle_ += t;
}

// REQUIRES: the clock is settled.
void Scheduler::let_time_pass_until(Nanos deadline) {
  const Nanos left = deadline - now_settled();
  if (left > 0) pass_idle_time(left);
  fire_timers();
}

// The next timer is due at an earlier event than it was. Whatever else makes a run look at events
// (queries, slices, checkpoints) must not decide where it fires: a replay has others.
void Scheduler::pass_time(Nanos t) {
  skew_ += t;
  if (timers_ == nullptr || current->no_yield != 0) return;
  settle_clock();
  const Nanos left = timers_->deadline - now_settled();
  const Clock due = clock_ + 1 + (left > 0 ? static_cast<Clock>(left) / kNanosPerPoint : 0);
  if (due < attention_) attention_ = due;
  if (due < limit_) limit_ = due;
  *current->countdown = static_cast<std::int64_t>(limit_ - clock_ - 1);
}

Nanos Scheduler::now() const { return static_cast<Nanos>(clock()) * kNanosPerPoint + skew_; }

}  // namespace clew::rt
