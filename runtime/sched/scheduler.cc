#include "runtime/sched/scheduler.h"

#include <signal.h>
#include <sys/syscall.h>

#include "runtime/arena.h"
#include "runtime/libc/real.h"
#include "runtime/outside/asks.h"
#include "runtime/outside/foreign.h"
#include "runtime/outside/inputs.h"
#include "runtime/outside/perform.h"
#include "runtime/raw_syscall.h"
#include "runtime/record/debug_table.h"
#include "runtime/record/end.h"
#include "runtime/record/generation.h"
#include "runtime/record/log.h"
#include "runtime/record/stacks.h"
#include "runtime/record/trace.h"
#include "runtime/sched/sharing.h"
#include "runtime/signal/attend.h"
#include "runtime/snapshot/checkpoint.h"

namespace clew::rt {

Scheduler g_sched;

namespace {
// Voluntary yields on end, with nothing else happening, after which nobody is taken to get on.
constexpr std::uint64_t kMaxIdleYields = 50'000'000;
// What a yield costs when only sleepers are left: spinning until a deadline must reach it.
constexpr Nanos kNanosPerIdleYield = 10'000;
constexpr std::uint64_t kYieldsBetweenAsks = 64;
// Scheduling points after which a strategy is no longer asked.
constexpr std::uint64_t kMostPoints = 2'000'000;
}  // namespace

void Scheduler::init(abi::Control& control, Fiber* main) {
  control_ = &control;
  // Not zeroed by touch: the arena's pages appear as they are used.
  threads = static_cast<ThreadRecord*>(arena_alloc(kMaxThreads * sizeof(ThreadRecord)));
  main->index = 0;
  main->key = abi::kMainThreadKey;
  threads[0] = {0, 0, main};
  oldest_ = youngest_ = main;
  thread_count = living_ = 1;
  main->state = FiberState::kRunning;
  main->slice_begin = 1;
  current = main;
  main->own_stack = make_own_stack();
  clew_own_base = main->own_stack.base;
  clew_own_top = main->own_stack.top;
  active = true;
  limit_ = 1;
  *main->countdown = 0;
  const auto& job = *reinterpret_cast<const abi::Job*>(reinterpret_cast<const char*>(&control) +
                                                       control.jobs_offset);
  static constexpr abi::Job kNothing{};
  begin_job(control.flags & abi::kFlagFromMain ? kNothing : job);
}

void Scheduler::begin_job(const abi::Job& job) {
  settle_clock();
  strategy_ = make_strategy(job);
  at_every_point_ = strategy_->at_every_point();
  picks_ =
      strategy_->picks() && (job.choices & 1u << static_cast<unsigned>(abi::ChoiceKind::kPick));
  choices_ = strategy_->follows() ? ~0u : job.choices;
  g_sharing.begin(*control_, job);
  g_trace.begin(*control_, job,
                strategy_->follows() ? Trace::Decisions::kTraced : Trace::Decisions::kLeftOut);
  only_traced_ = false;
  strategy_->created(candidate_of(*current), 0);
  strategy_->on_switch(clock_ + 1);
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
  Clock limit = kNever;
  const auto at_most = [&](Clock event) {
    if (event < limit) limit = event;
  };
  at_most(control_->budget);
  if (!(control_->flags & abi::kFlagReplay)) at_most(slice_begin_ + fair_slice());
  if (timers_ != nullptr) {
    const Nanos left = timers_->deadline - now_settled();
    at_most(clock_ + 1 + (left > 0 ? static_cast<Clock>(left) / kNanosPerPoint : 0));
  }
  if (current->disturbed) limit = clock_ + 1;
  at_most(g_asks.next());
  if (next_query_ < control_->queries_count) at_most(queries()[next_query_]);
  at_most(g_checkpoint_clock);
  at_most(at_every_point_ ? last_decision() : strategy_->next_decision(clock_));
  if (!at_every_point_ && (control_->flags & abi::kFlagEveryPoint)) limit = clock_ + 1;
  if (limit <= clock_) limit = clock_ + 1;
  attention_ = limit;
  if (at_every_point_) limit = clock_ + 1;
  if (CLEW_UNLIKELY(clock_ < g_trace.window_last()))
    at_most(g_trace.window_first() > clock_ ? g_trace.window_first() : clock_ + 1);
  limit_ = limit;
  *current->countdown = static_cast<std::int64_t>(limit_ - clock_ - 1);
}

void Scheduler::look_again() {
  settle_clock();
  rearm();
}

const Clock* Scheduler::queries() const {
  return reinterpret_cast<const Clock*>(reinterpret_cast<const char*>(control_) +
                                        control_->queries_offset);
}

// --- when there is no going on ----------------------------------------------------------------

void Scheduler::end_at_budget() {
  if (control_->flags & abi::kFlagBreaksOff) end_broken_off();
  end_hang("the clock budget is spent");
}

void Scheduler::end_stuck() {
  if (control_->flags & abi::kFlagBreaksOff) end_broken_off();
  end_deadlock();
}

// --- yielding ----------------------------------------------------------------------------

void Scheduler::yield_slow() {
  if (current->no_yield != 0) {
    *current->countdown = kUnlimited;
    return;
  }
  if (pass_in_window()) return;
  if (current->slice_place == 0) current->slice_place = current->place;
  // The countdown stands at -1: the event was taken off but has not happened.
  clock_ = limit_ - 1;
  *current->countdown = 0;
  for (;;) {
    const Clock event = clock_ + 1;
    if (event >= control_->budget) end_at_budget();
    if (CLEW_UNLIKELY(event >= g_checkpoint_clock)) stop_at_checkpoint();
    if (timers_ != nullptr) fire_timers();
    if (CLEW_UNLIKELY(event >= g_asks.next())) g_asks.ask_at(event);
    if (CLEW_UNLIKELY(current->disturbed)) {
      attend(*current, kUndisturbed);
      settle_clock();
      continue;
    }
    bool fairness = false;
    Decision decision = strategy_->decide(event);
    if (decision.kind == Decision::Kind::kStay && !(control_->flags & abi::kFlagReplay) &&
        event >= slice_begin_ + fair_slice()) {
      fairness = true;
      decision = {Decision::Kind::kNext, nullptr};
      slice_begin_ = event;
    }
    const bool nobody_else = decision.kind == Decision::Kind::kNext && queue_.empty();
    if (nobody_else && !fairness) continue;
    if (decision.kind != Decision::Kind::kStay && !nobody_else) {
      preempt(event, decision);
      continue;
    }
    if (!at_every_point_ || current->step.object == 0) break;
    consult(event);
    if (CLEW_UNLIKELY(points >= kMostPoints)) stop_deciding();
    if (CLEW_LIKELY(!current->disturbed)) break;
  }
  if (at_every_point_ && clock_ >= last_decision()) stop_deciding();
  answer_queries(clock_ + 1);
  ++clock_;
  only_traced_ = false;  // as it may have been for another thread in between
  rearm();
}

// An event that is looked at only for the trace, and would otherwise have been counted down: all
// stays as it is, above all the event at which the next thing is due, which is not computed anew,
// for it could come out otherwise (pass_time).
bool Scheduler::pass_in_window() {
  if (CLEW_LIKELY(limit_ >= attention_) || at_every_point_) return false;
  only_traced_ = true;
  clock_ = limit_;
  limit_ = clock_ < g_trace.window_last() ? clock_ + 1 : attention_;
  *current->countdown = static_cast<std::int64_t>(limit_ - clock_ - 1);
  return true;
}

void Scheduler::trace_passed(const Step& step) {
  g_trace.add({current->key, current->index, step}, clock(), own_event() - 1, 0, 0);
}

// --- switching -------------------------------------------------------------------------------

void Scheduler::preempt(Clock event, Decision decision) {
  Fiber* to = decision.to;
  g_log.preemption(event, *current, decision);
  ++preemptions;
  if (to != nullptr) {
    queue_.remove(to);
  } else {
    to = queue_.pop();
  }
  Standing& standing = this->standing();
  if (CLEW_UNLIKELY(g_trace.wants_decisions()))
    g_trace.decision(*current, {event, 0, standing.own_event, standing.preemptions}, 0, to->key);
  ++standing.preemptions;
  current->state = FiberState::kRunnable;
  queue_.push(current);
  switch_to(to, abi::SliceEnd::kPreempted);
}

void Scheduler::yield_voluntarily() {
  settle_clock();
  // A copy may spin until another process has written to memory that they share.
  if (++idle_yields_ > kMaxIdleYields && generation() == 0)
    end_hang("every thread only spins, none gets on");
  if (g_asks.expecting() && idle_yields_ % kYieldsBetweenAsks == 0) g_asks.ask();
  if (queue_.empty()) {
    if (timers_ == nullptr) return;
    skew_ += kNanosPerIdleYield;
    fire_timers();
    if (queue_.empty()) return;
  }
  strategy_->yielded(candidate_of(*current));
  Fiber* to = take_next();
  current->state = FiberState::kRunnable;
  queue_.push(current);
  switch_to(to, abi::SliceEnd::kYielded);
}

// Time jumps exactly to the deadline, however much of it has gone by: a replay does not spend the
// same.
bool Scheduler::has_to_hand_on(Nanos& spent) {
  settle_clock();
  g_asks.ask_while_stuck();
  if (timers_ != nullptr) {
    const Nanos left = timers_->deadline - now_settled();
    if (left <= spent) {
      if (left > 0) spent -= left;
      let_time_pass_until(timers_->deadline);
    }
  }
  rearm();
  return !queue_.empty() || current->disturbed;
}

void Scheduler::hand_on() {
  settle_clock();
  if (!queue_.empty()) {
    Fiber* to = take_next();
    current->state = FiberState::kRunnable;
    queue_.push(current);
    switch_to(to, abi::SliceEnd::kYielded);
  }
  if (!current->disturbed) return;
  attend(*current, kUndisturbed);
  look_again();
}

// The thread to run when the current one cannot. Time jumps when nobody can.
Fiber* Scheduler::next_to_run() {
  while (queue_.empty()) {
    const Nanos due = timers_ != nullptr ? timers_->deadline : kForever;
    if (due <= now_settled()) {  // time may have passed without points
      fire_timers();
      continue;
    }
    if (g_asks.expecting() || g_other_processes) {
      const Asks::Came came = g_asks.wait_for_something(due);
      if (came == Asks::Came::kSomething) continue;
      if (came == Asks::Came::kNever) end_stuck();
    }
    if (due == kForever) end_stuck();
    let_time_pass_until(due);
  }
  return take_next();
}

// A signal may come in the middle of it, and its handler must not take the one stack for the
// other: there is none to go to until all is done.
static void switch_context(Fiber& from, Fiber& to) {
  from.own_stack.top = clew_own_top;
  clew_own_top = 0;
  asm volatile("" ::: "memory");
  clew_own_base = to.own_stack.base;
  clew_context_switch(&from.context, &to.context);
  clew_own_top = from.own_stack.top;
}

// REQUIRES: the clock is settled; current is queued, blocked or finished.
void Scheduler::switch_to(Fiber* to, abi::SliceEnd why) {
  Fiber* from = current;
  g_log.slice(*from, clock_, why);
  from->events += clock_ + 1 - from->slice_begin;
  company_ = last_company();
  company_since_ = queue_.empty() ? kNever : clock_;
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
  switch_context(*from, *to);
  resumed();
}

// First thing on a stack that has just been switched to.
void Scheduler::resumed() {
  while (visit_ != nullptr) {
    visit_(*current);
    Fiber* self = current;
    current = visitor_;
    switch_context(*self, *visitor_);
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
    switch_context(*self, fiber);
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

// A fault may strike where the clock is not exact. The handler, and what comes after it if it
// leaves by a jump, go by the last clock that is: the same in a replay, though it may be behind.
void Scheduler::enter_handler() {
  if (current->no_yield == 0) {
    interrupted_clock_ = clock();
    clock_ = certain_clock_;
  }
  ++current->no_yield;
  *current->countdown = kUnlimited;
}

void Scheduler::leave_handler(std::int64_t countdown) {
  if (--current->no_yield == 0) *current->countdown = countdown;
}

// Where the fault struck, points may have been counted that were not reached, and a replay may have
// counted others of the same batch: it takes the recorded clock. No decision lies between the two,
// because a batch is counted at once only if none lies in it.
void Scheduler::leave_handler_by_jump() {
  const auto clock = static_cast<Clock>(answered(
      Call{SYS_restart_syscall, {}}, [&] { return static_cast<long>(interrupted_clock_); }));
  if (clock > clock_) clock_ = clock;
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
