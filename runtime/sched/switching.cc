// Who runs: preempting, yielding, and the switch itself; coming and going of threads.
#include <cstdlib>

#include "runtime/sched/scheduler.h"
#include "runtime/translate/translate.h"

namespace clew::rt {
namespace {

// Voluntary yields in a row, with nothing else happening, after which nobody is taken to make
// progress. Chosen, not measured: seconds of spinning.
constexpr std::uint64_t kMaxIdleYields = 50'000'000;
// What a yield costs when only sleepers are left: spinning until a deadline must reach it. Chosen,
// not measured: a hundred thousand yields for a second.
constexpr Nanos kNanosPerIdleYield = 10'000;
// Voluntary yields in a row, with nothing else happening, after which time jumps to the next
// deadline: those who spin wait for it, however far it is. Chosen, not measured.
constexpr std::uint64_t kIdleYieldsToDeadline = 1'000'000;
// Chosen, not measured: a look at the outside is a system call, a yield is not.
constexpr std::uint64_t kYieldsBetweenPolls = 64;

// A signal may come in the middle of it, and its handler must not take the one stack for the
// other: there is none to change to until all is done.
void switch_context(Fiber& from, Fiber& to) {
  from.own_stack.top = clew_own_top;
  clew_own_top = 0;
  asm volatile("" ::: "memory");
  clew_own_base = to.own_stack.base;
  clew_context_switch(&from.context, &to.context);
  clew_own_top = from.own_stack.top;
}

}  // namespace

// --- giving the processor away -------------------------------------------------------------------

void Scheduler::preempt(Clock event, Decision decision) {
  const bool names_thread = decision.kind == Decision::Kind::kTo;
  Fiber* to = names_thread ? threads.fiber(decision.to) : queue_.head();
  SinceOwnEvent& since = since_own_event();
  g_listeners.decided({.thread = {current->key, current->index},
                       .place = current->reached.place,
                       .event = event,
                       .own_event = since.own_event,
                       .own_ordinal = since.preemptions,
                       .names_thread = names_thread,
                       .to = {to->key, to->index}});
  ++counts.preemptions;
  ++since.preemptions;
  queue_.remove(to);
  current->state = FiberState::kRunnable;
  queue_.push(current);
  switch_to(to, abi::SliceEnd::kPreempted);
}

// REQUIRES: `to` is not in the queue.
void Scheduler::yield_to(Fiber* to) {
  current->state = FiberState::kRunnable;
  queue_.push(current);
  switch_to(to, abi::SliceEnd::kYielded);
}

void Scheduler::yield_voluntarily() {
  clock_.settle();
  // A copy may spin until another process has written to memory that they share.
  if (++idle_yields_ > kMaxIdleYields && !surroundings_->is_copy()) surroundings_->end_spinning();
  if (idle_yields_ % kYieldsBetweenPolls == 0) surroundings_->poll_if_expected();
  if (!timers.empty()) {
    const bool jumps = idle_yields_ % kIdleYieldsToDeadline == 0;
    clock_.pass(at_speed(queue_.empty() ? kNanosPerIdleYield : kNanosPerCall));
    if (jumps && timers.next_deadline() > clock_.settled_time())
      clock_.pass(timers.next_deadline() - clock_.settled_time());
    fire_timers();
  }
  if (queue_.empty()) return rearm();
  // It could have continued at once, as sched_yield() and pause may: here somebody else comes first.
  uncovered |= abi::kUncoveredRounds;
  decider_.tell(Occurrence::Kind::kYielded, *current);
  yield_to(take_next());
}

// Time jumps exactly to the deadline, however much of it has passed: a replay does not spend as
// much.
bool Scheduler::has_to_hand_on(Nanos& spent) {
  clock_.settle();
  surroundings_->poll_while_stuck();
  if (!timers.empty()) {
    const Nanos left = timers.next_deadline() - clock_.settled_time();
    if (left <= spent) {
      if (left > 0) spent -= left;
      let_time_pass_until(timers.next_deadline());
    }
  }
  rearm();
  return !queue_.empty() || current->disturbed;
}

void Scheduler::hand_on() {
  clock_.settle();
  if (!queue_.empty()) yield_to(take_next());
  if (!current->disturbed) return;
  surroundings_->attend(*current, kUndisturbed);
  look_again();
}

// --- the switch ----------------------------------------------------------------------------------

// The thread to run when the current one cannot. Time jumps when nobody can.
Fiber* Scheduler::next_to_run() {
  while (queue_.empty()) {
    const Nanos due = timers.next_deadline();
    if (due <= clock_.settled_time()) {  // time may have passed without points
      fire_timers();
      continue;
    }
    const Surroundings::Came came = surroundings_->wait_for_something(due);
    if (came == Surroundings::Came::kSomething) {
      uncovered |= abi::kUncoveredOutside;
      continue;
    }
    if (came == Surroundings::Came::kNever || due == kForever) surroundings_->end_stuck();
    let_time_pass_until(due);
  }
  return take_next();
}

void Scheduler::leave_slice(const Fiber& from, Clock last, abi::SliceEnd why) {
  if (CLEW_LIKELY(!g_listeners.hears_of(kTopicSlices))) return;
  const bool joins = from.wait_kind() == abi::WaitKind::kJoin;
  g_listeners.left({.thread = {from.key, from.index},
                    .first = from.slice_begin,
                    .last = last,
                    .first_place = from.slice_place,
                    .last_place = from.reached.place,
                    .why = why,
                    .waits_for = from.wait_kind(),
                    .object = joins ? static_cast<const Fiber*>(from.wait_object())->index
                                    : reinterpret_cast<std::uintptr_t>(from.wait_object())});
}

// REQUIRES: the clock is settled; current is queued, blocked or finished.
void Scheduler::switch_to(Fiber* to, abi::SliceEnd why) {
  Fiber* from = current;
  const Clock clock = clock_.settled();
  leave_slice(*from, clock, why);
  from->events += clock + 1 - from->slice_begin;
  company_ = last_company();
  company_since_ = queue_.empty() ? kNever : clock;
  to->state = FiberState::kRunning;
  to->slice_begin = clock + 1;
  to->slice_place = to->reached.place;
  if (to == from) return rearm();  // time jumped to its own deadline
  ++counts.switches;
  clock_.note_certain(clock);
  g_hash.fold(clock << 20 ^ static_cast<std::uint64_t>(from->index) << 10 ^ to->index);
  slice_begin_ = clock + 1;
  current = to;
  g_stretch.begin();
  note_switched_thread();
  clock_.run(to->countdown, to->no_yield == 0 ? EventClock::Counts::kYes : EventClock::Counts::kNo);
  decider_.tell(Occurrence::Kind::kSwitched, *to, 0, clock + 1);
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
  if (CLEW_UNLIKELY(debugged)) surroundings_->parked(*switched_from_);
  if (zombie_ != nullptr) {
    Fiber* zombie = zombie_;
    zombie_ = nullptr;
    reclaim(*zombie);
  }
  rearm();
}

void Scheduler::visit_others(void (*visit)(Fiber&)) {
  clock_.settle();
  Fiber* self = current;
  visit_ = visit;
  visitor_ = self;
  threads.for_each_living([&](Fiber& fiber) {
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

// --- threads -------------------------------------------------------------------------------------

void Scheduler::add(Fiber& fiber) {
  const std::uint32_t parent = threads.parent(fiber.index);
  g_stretch.begin();
  g_hash.fold(0xc4ea7e ^ static_cast<std::uint64_t>(fiber.index) << 32);
  g_listeners.created({{fiber.key, fiber.index},
                       parent,
                       threads.ordinal(fiber.index),
                       reinterpret_cast<std::uintptr_t>(fiber.start)});
  const bool was_alone = !threads.had_company();
  threads.note_started();
  decider_.tell(Occurrence::Kind::kCreated, fiber, threads.fiber(parent)->key);
  if (debugged) surroundings_->parked(fiber);
  enqueue(&fiber);
  if (was_alone && at_every_point()) look_again();
}

void Scheduler::look_at_next() {
  if (!at_every_point() || threads.had_company() || !clock_.counts()) return;
  clock_.settle();
  clock_.bring_forward(clock_.settled() + 1);
}

void Scheduler::note_joined(const Fiber& ended) {
  announce_sync(Synchronised::Kind::kJoined,
                reinterpret_cast<const void*>(std::uintptr_t{ended.index}));
  threads.note_joined();
  if (at_every_point() && !threads.had_company()) look_again();
}

void Scheduler::started() {
  clew_own_top = current->own_stack.top;
  clew_call_on_own_stack([] { g_sched.resumed(); });
}

void Scheduler::finish_current() {
  clock_.settle();
  Fiber& fiber = *current;
  fiber.state = FiberState::kFinished;
  announce_sync(Synchronised::Kind::kEnded, nullptr);
  g_hash.fold(0xf1u ^ clock_.settled() << 8 ^ fiber.index);
  decider_.tell(Occurrence::Kind::kFinished, fiber);
  wake_all(&fiber);
  if (fiber.detached) zombie_ = &fiber;
  threads.note_finished();
  if (threads.living() == 0) {
    // The last thread is over (main left through pthread_exit): the process ends as by exit(0).
    fiber.state = FiberState::kRunning;
    exit(0);
  }
  switch_to(next_to_run(), abi::SliceEnd::kFinished);
  __builtin_unreachable();
}

// What they hold stays held. Their stacks are libc's to give back.
void Scheduler::forget_others() {
  clock_.settle();
  company_ = last_company();
  company_since_ = kNever;
  queue_ = {};
  threads.for_each([&](Fiber& fiber) {
    if (&fiber == current) return;
    for (Wait* wait = fiber.wait; wait != nullptr; wait = wait->outer) abandon(*wait);
    fiber.state = FiberState::kFinished;
    if (debugged) surroundings_->parked(fiber);
    threads.forget(fiber);
  });
  current->joiner = nullptr;
  current->robust = nullptr;  // held by another process
  threads.note_alone();
  g_hash.fold(0xc09e ^ clock_.settled() << 16 ^ current->index);
  rearm();
}

void Scheduler::reclaim(Fiber& fiber) {
  // A block of the pool stays: it is used once, and its place must not depend on what ended when.
  if (fiber.block != nullptr && !fiber.from_pool) surroundings_->give_back(fiber);
  threads.forget(fiber);
}

ThreadStatus Scheduler::status(ThreadIndex thread) const {
  if (thread >= threads.count()) return ThreadStatus::kUnknown;
  const Fiber* fiber = threads.fiber(thread);
  if (fiber == nullptr || fiber->state == FiberState::kFinished) return ThreadStatus::kEnded;
  if (fiber == current) return ThreadStatus::kRunning;
  const bool runnable =
      fiber->state == FiberState::kRunnable || fiber->state == FiberState::kNotStarted;
  return runnable ? ThreadStatus::kRunnable : ThreadStatus::kBlocked;
}

ThreadIndex Scheduler::find(abi::ThreadKey key) const {
  const Fiber* fiber = threads.find_by_key(key);
  return fiber != nullptr ? fiber->index : kNoThread;
}

}  // namespace clew::rt
