#include "runtime/sched/scheduler.h"

#include <signal.h>
#include <sys/syscall.h>

#include "runtime/arena.h"
#include "runtime/fiber/raw_syscall.h"
#include "runtime/intercept/real.h"
#include "runtime/record/debug_table.h"
#include "runtime/record/end.h"
#include "runtime/record/log.h"
#include "runtime/record/stacks.h"

namespace clew::rt {

Scheduler g_sched;

namespace {
// Voluntary yields on end, with nothing else happening, after which nobody is taken to get on.
constexpr std::uint64_t kMaxIdleYields = 50'000'000;
// What a yield costs when only sleepers are left: spinning until a deadline must reach it.
constexpr Nanos kNanosPerIdleYield = 10'000;
}  // namespace

void Scheduler::init(abi::Control& control, Fiber* main) {
  control_ = &control;
  // Not zeroed by touch: the arena's pages appear as they are used.
  threads = static_cast<ThreadRecord*>(arena_alloc(kMaxThreads * sizeof(ThreadRecord)));
  main->index = 0;
  threads[0] = {0, 0, main};
  thread_count = living_ = 1;
  main->state = FiberState::kRunning;
  main->slice_begin = 1;
  current = main;
  strategy_ = make_strategy(control);
  strategy_->on_switch(1);
  active = true;
  rearm();
}

// --- the clock ---------------------------------------------------------------------------

void Scheduler::settle_clock() { clock_ = clock(); }

// Sets the countdown to the next event at which anything has to be looked at. REQUIRES: the clock
// is settled.
void Scheduler::rearm() {
  control_->live_clock.store(clock_, std::memory_order_relaxed);
  if (current->no_yield != 0) {
    *current->countdown = kUnlimited;
    return;
  }
  Clock limit = strategy_->next_decision(clock_);
  const auto at_most = [&](Clock event) {
    if (event < limit) limit = event;
  };
  at_most(control_->budget);
  if (!(control_->flags & abi::kFlagReplay)) at_most(slice_begin_ + control_->fair_slice);
  if (timers_ != nullptr) {
    const Nanos left = timers_->deadline - now_settled();
    at_most(clock_ + 1 + (left > 0 ? static_cast<Clock>(left) / kNanosPerPoint : 0));
  }
  if (next_query_ < control_->queries_count) at_most(queries()[next_query_]);
  if (control_->flags & abi::kFlagEveryPoint) limit = clock_ + 1;
  if (limit <= clock_) limit = clock_ + 1;
  limit_ = limit;
  *current->countdown = static_cast<std::int64_t>(limit_ - clock_ - 1);
}

const Clock* Scheduler::queries() const {
  return reinterpret_cast<const Clock*>(reinterpret_cast<const char*>(control_) +
                                        control_->queries_offset);
}

// --- yielding ----------------------------------------------------------------------------

void Scheduler::yield_slow() {
  if (current->no_yield != 0) {
    *current->countdown = kUnlimited;
    return;
  }
  if (current->slice_place == 0) current->slice_place = current->place;
  // The countdown stands at -1: the event was taken off but has not happened.
  clock_ = limit_ - 1;
  *current->countdown = 0;
  for (;;) {
    const Clock event = clock_ + 1;
    if (event >= control_->budget) end_hang("the clock budget is spent");
    if (timers_ != nullptr) fire_timers();
    bool fairness = false;
    Decision decision = strategy_->decide(event);
    if (decision.kind == Decision::Kind::kStay && !(control_->flags & abi::kFlagReplay) &&
        event >= slice_begin_ + control_->fair_slice) {
      fairness = true;
      decision = {Decision::Kind::kNext, nullptr};
      slice_begin_ = event;
    }
    if (decision.kind == Decision::Kind::kStay) break;
    if (decision.kind == Decision::Kind::kNext && queue_.empty()) {
      if (fairness) break;
      continue;
    }
    preempt(event, decision);
  }
  answer_queries(clock_ + 1);
  ++clock_;
  rearm();
}

void Scheduler::preempt(Clock event, Decision decision) {
  Fiber* to = decision.to;
  g_log.preemption(event, *current, decision);
  ++preemptions;
  if (to != nullptr) {
    queue_.remove(to);
  } else {
    to = queue_.pop();
  }
  current->state = FiberState::kRunnable;
  queue_.push(current);
  switch_to(to, abi::SliceEnd::kPreempted);
}

void Scheduler::yield_voluntarily() {
  settle_clock();
  if (++idle_yields_ > kMaxIdleYields) end_hang("every thread only spins, none gets on");
  if (queue_.empty()) {
    if (timers_ == nullptr) return;
    skew_ += kNanosPerIdleYield;
    fire_timers();
    if (queue_.empty()) return;
  }
  current->state = FiberState::kRunnable;
  queue_.push(current);
  switch_to(queue_.pop(), abi::SliceEnd::kYielded);
}

// The thread to run when the current one cannot. Time jumps when nobody can.
Fiber* Scheduler::next_to_run() {
  if (Fiber* next = queue_.pop()) return next;
  if (timers_ == nullptr) end_deadlock();
  const Nanos left = timers_->deadline - now_settled();
  if (left > 0) skew_ += left;
  fire_timers();
  return queue_.pop();
}

// REQUIRES: the clock is settled; current is queued, blocked or finished.
void Scheduler::switch_to(Fiber* to, abi::SliceEnd why) {
  Fiber* from = current;
  g_log.slice(*from, clock_, why);
  if (to == from) {  // time jumped to its own deadline
    from->state = FiberState::kRunning;
    from->slice_begin = clock_ + 1;
    from->slice_place = from->place;
    rearm();
    return;
  }
  ++switches;
  certain_clock_ = clock_;
  g_log.fold(clock_ << 20 ^ static_cast<std::uint64_t>(from->index) << 10 ^ to->index);
  to->state = FiberState::kRunning;
  to->slice_begin = clock_ + 1;
  to->slice_place = to->place;
  slice_begin_ = clock_ + 1;
  current = to;
  strategy_->on_switch(clock_ + 1);
  switched_from_ = from;
  if (CLEW_UNLIKELY(masks_in_use)) swap_signal_masks(*from, *to);
  clew_context_switch(&from->context, &to->context);
  resumed();
}

// First thing on a stack that has just been switched to.
void Scheduler::resumed() {
  while (visit_ != nullptr) {
    visit_(*current);
    Fiber* self = current;
    current = visitor_;
    clew_context_switch(&self->context, &visitor_->context);
  }
  if (CLEW_UNLIKELY(g_debugging)) debug_table_update(*switched_from_);
  if (zombie_ != nullptr) {
    Fiber* zombie = zombie_;
    zombie_ = nullptr;
    reclaim(zombie);
  }
  rearm();
}

void Scheduler::visit_others(void (*visit)(Fiber&)) {
  settle_clock();
  Fiber* self = current;
  visit_ = visit;
  visitor_ = self;
  for_each_living([&](Fiber& fiber) {
    if (&fiber == self) return;
    if (fiber.state == FiberState::kNotStarted) {
      visit(fiber);
      return;
    }
    current = &fiber;
    clew_context_switch(&self->context, &fiber.context);
  });
  visit_ = nullptr;
  current = self;
}

void Scheduler::answer_queries(Clock event) {
  while (next_query_ < control_->queries_count && queries()[next_query_] <= event) {
    if (queries()[next_query_] == event) report_stacks(event);
    ++next_query_;
  }
}

void Scheduler::swap_signal_masks(Fiber& from, const Fiber& to) {
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&to.signal_mask),
              reinterpret_cast<long>(&from.signal_mask), sizeof from.signal_mask);
}

void Scheduler::leave_handler(std::int64_t countdown) {
  if (--current->no_yield == 0) *current->countdown = countdown;
}

void Scheduler::leave_handler_by_jump() {
  current->no_yield = 0;
  rearm();
}

void Scheduler::enter_no_yield() {
  if (current->no_yield == 0) settle_clock();
  ++current->no_yield;
  *current->countdown = kUnlimited;
}

void Scheduler::leave_no_yield() {
  if (current->no_yield == 0 || --current->no_yield != 0) return;
  rearm();
}

}  // namespace clew::rt
