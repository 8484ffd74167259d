// Waiting for objects and for time.
#include "runtime/sched/scheduler.h"

namespace clew::rt {
namespace {
// A wait with a time limit of a second or more is meant to be endless. Chosen: a test that waits for
// seconds does so only in order not to hang.
constexpr Nanos kSafety = 1'000'000'000;
// What may have passed since the program computed the deadline from the clock: less than so much is
// missing from a second. Chosen, not measured: ten million points.
constexpr Nanos kSinceComputed = 100'000'000;
}  // namespace

Woke Scheduler::block(abi::WaitKind kind, const void* object, Nanos deadline, unsigned ended_by) {
  Wait wait;
  wait.kind = kind;
  wait.object = object;
  return block(wait, deadline, ended_by);
}

Woke Scheduler::block(Wait& wait, Nanos deadline, unsigned ended_by) {
  clock_.settle();
  Fiber* fiber = current;
  wait.fiber = fiber;
  wait.since = clock();
  wait.outer = fiber->wait;
  wait.timer.fire = wait_timed_out;
  fiber->wait = &wait;
  fiber->state = FiberState::kBlocked;
  if (wait.object != nullptr) waits_.link(wait);
  if (deadline != kForever) {
    const Nanos slack = at_speed(kSlack) - kSlack;
    if (deadline < kForever - slack) deadline += slack;
    timers.arm(wait.timer, deadline);
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
      clock_.settle();
      switch_to(next_to_run(), abi::SliceEnd::kBlocked);
    }
    if (fiber->disturbed) {
      late = wait.timed_out;
      wait.disturbed = now();
      attended = surroundings_->attend(*fiber, ended_by);
    }
    if (wait.over() || attended.ends(ended_by)) break;
    fiber->state = FiberState::kBlocked;
  }
  fiber->wait = wait.outer;
  if (attended.cancelled) {
    if (!wait.over()) waits_.unlink(wait);
    timers.disarm(wait.timer);
    // glibc's cancellation acts before the thread that was woken runs on, and what woke it is not
    // lost: the next gets it (nptl/pthread_cond_wait.c, __condvar_cleanup_waiting).
    if (wait.woken && wait.object != nullptr) wake_one(wait.object, wait.bits);
    return Woke::kByCancel;
  }
  const bool to_look_again = wait.polls && attended.ends(ended_by);
  if (wait.woken && !to_look_again) return Woke::kByObject;
  // If the time ran out while the handler ran, the signal came first.
  if (wait.timed_out && (late || !attended.ends(ended_by))) return Woke::kByTime;
  if (!wait.timed_out) waits_.unlink(wait);
  timers.disarm(wait.timer);
  return Woke::kBySignal;
}

// Whether the strategy lets the time of a wait run out while others could run. A wait that is given
// seconds means "for ever, but do not hang": that its time runs out then is possible, but nobody
// would call it a bug. A sleep is only a hint.
bool Scheduler::time_ran_out_early(const Wait& wait) {
  const Nanos deadline = wait.timer.deadline;
  // A thread that waits for the same deadline again, because it was woken for something else, still
  // has the time limit that it began with.
  TimeLimit& limit = current->limit;
  if (limit.deadline != deadline)
    limit = {deadline, deadline - clock_.settled_time() > kSafety - kSinceComputed};
  const bool sleeps = wait.kind == abi::WaitKind::kSleep;
  if (sleeps && !queue_.empty() && sleep_is_over_at_once()) return true;
  const bool in_earnest = sleeps || !limit.is_for_safety;
  return !queue_.empty() && in_earnest && happens(abi::ChoiceKind::kTimeout);
}

void Scheduler::disturb(Fiber* fiber) {
  fiber->disturbed = true;
  if (fiber->state == FiberState::kBlocked) make_runnable(fiber);
}

void Scheduler::wake(Wait& wait) {
  if (wait.over()) return;
  timers.disarm(wait.timer);
  wait.woken = true;
  wait_is_over(wait);
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
  if (wait.outside) surroundings_->forget(wait);
  if (wait.over()) return;
  waits_.unlink(wait);
  timers.disarm(wait.timer);
}

// A thread that attends to a signal runs already, or waits for something else in its handler: it
// finds out afterwards.
void Scheduler::wait_is_over(Wait& wait) {
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

Fiber* Scheduler::wake_waiter(const void* object, std::uint32_t bits) {
  Wait* wait = waiter_to_wake(object, bits);
  if (wait == nullptr) return nullptr;
  waits_.unlink(*wait);
  wake(*wait);
  return wait->fiber;
}

// In order of waiting: all of them become ready, and which runs first is decided then.
std::uint32_t Scheduler::wake_all(const void* object) {
  std::uint32_t woken = 0;
  while (Wait* wait = waits_.first(object)) {
    waits_.unlink(*wait);
    wake(*wait);
    ++woken;
  }
  return woken;
}

// --- time --------------------------------------------------------------------------------------

void Scheduler::wait_timed_out(Timer& timer) {
  Wait& wait = reinterpret_cast<Wait&>(timer);
  g_sched.waits_.unlink(wait);
  wait.timed_out = true;
  g_sched.wait_is_over(wait);
}

// REQUIRES: the clock is settled.
void Scheduler::fire_timers() {
  while (Timer* timer = timers.take_due(clock_.settled_time())) {
    idle_yields_ = 0;
    uncovered |= abi::kUncoveredTime;
    timer->fire(*timer);
  }
}

// REQUIRES: the clock is settled.
void Scheduler::let_time_pass_until(Nanos deadline) {
  const Nanos left = deadline - clock_.settled_time();
  if (left > 0) clock_.pass_idle(left);
  fire_timers();
}

// The next timer is due at an earlier event than it was. Whatever else makes a run look at events
// (queries, slices, checkpoints) must not decide where it fires: a replay has others.
void Scheduler::pass_time(Nanos t) {
  clock_.pass(t);
  if (timers.empty() || current->no_yield != 0) return;
  clock_.settle();
  clock_.bring_forward(clock_.event_at(timers.next_deadline()));
}

void Scheduler::begin_processor_time() {
  clock_.forget_busy_time();
  current->clock_reads = -static_cast<Nanos>(own_event(*current) - 1) * at_speed(kNanosPerPoint);
}

}  // namespace clew::rt
