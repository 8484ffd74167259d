// Events: the slow side of a yield point, and what is announced.
#include "runtime/sched/scheduler.h"

namespace clew::rt {

constinit Scheduler g_sched;

namespace {
// Scheduling points after which a strategy is no longer asked. Chosen, not measured: about a second
// of deciding.
constexpr std::uint64_t kMostPoints = 2'000'000;
}  // namespace

void Scheduler::init(abi::Control& control, Surroundings& surroundings, Fiber& main) {
  control_ = &control;
  surroundings_ = &surroundings;
  threads.init(main);
  main.state = FiberState::kRunning;
  main.slice_begin = 1;
  current = &main;
  clew_own_base = main.own_stack.base;
  clew_own_top = main.own_stack.top;
  active = true;
  clock_.init(control.live_clock, control.clock_speed);
  clock_.run(main.countdown, EventClock::Counts::kYes);
  *main.countdown = 0;
  const auto& job = *reinterpret_cast<const abi::Job*>(reinterpret_cast<const char*>(&control) +
                                                       control.jobs_offset);
  static constexpr abi::Job kNothing{};
  begin_job(control.flags & abi::kFlagFromMain ? kNothing : job);
}

void Scheduler::begin_job(const abi::Job& job) {
  clock_.settle();
  decider_.begin(*make_strategy(job, *this), job.choices);
  coasting_ = {};
  // A trace that is wanted whole has every point in it.
  if (decider_.strategy().manner.may_coast && (job.flags & abi::kJobTraceFile) == 0)
    coasting_.allow(
        job.seed, job.flags & abi::kJobTrace ? Coasting::kTracedInFull : Coasting::kDecidedInFull);
  g_listeners.clear();
  surroundings_->tune_in(job, decider_.strategy().manner);
  set_window();
  decider_.tell(Occurrence::Kind::kCreated, *current);
  decider_.tell(Occurrence::Kind::kSwitched, *current, 0, clock_.settled() + 1);
  rearm();
}

// A debugger, and who reads what translated code does, take the countdown for what is left.
void Scheduler::set_window() {
  const bool is_read =
      control_->translation >= 0 || (control_->flags & abi::kFlagWaitDebugger) != 0;
  const bool watched = g_listeners.needs_no_repeats();
  if (watched) g_stretch.keep();
  const bool choose = !is_read && (watched || g_listeners.looked_at().empty());
  clock_.set_window(
      g_listeners.looked_at(),
      g_listeners.hears_regions() ? EventClock::Regions::kSeen : EventClock::Regions::kUnseen,
      choose ? EventClock::Hooks::kChoose : EventClock::Hooks::kLookAtAll);
}

void Scheduler::listen_again() {
  clock_.settle();
  set_window();
  rearm();
}

// --- the clock ---------------------------------------------------------------------------------

void Scheduler::rearm() {
  const Clock attention = clock_.counts() ? next_attention() : kNever;
  clock_.arm(attention, looks_at_every_point() ? EventClock::Looks::kAtEveryPoint
                                               : EventClock::Looks::kWhenDue);
  g_quiet.pass = !clock_.hooked_at_every_point()  ? QuietPoints::Pass::kNotAsked
                 : g_listeners.needs_no_repeats() ? QuietPoints::Pass::kIfRepeated
                                                  : QuietPoints::Pass::kYes;
}

// The next event at which anything has to be done. REQUIRES: the clock is settled.
Clock Scheduler::next_attention() {
  if (current->disturbed) return clock_.settled() + 1;
  Clock next = control_->budget;
  const auto at_most = [&](Clock event) {
    if (event < next) next = event;
  };
  if (!(control_->flags & abi::kFlagReplay)) at_most(slice_begin_ + fair_slice());
  if (!timers.empty()) at_most(clock_.event_at(timers.next_deadline()));
  at_most(poll_at);
  if (next_query_ < control_->queries_count) at_most(queries()[next_query_]);
  at_most(checkpoint_at);
  if (at_every_point()) {
    at_most(last_decision());
    if (coasting_.on()) at_most(coasting_.until());
  } else {
    at_most(decider_.strategy().next_decision(clock_.settled()));
    if (control_->flags & abi::kFlagEveryPoint) return clock_.settled() + 1;
  }
  return next;
}

void Scheduler::look_again() {
  clock_.settle();
  rearm();
}

const Clock* Scheduler::queries() const {
  return reinterpret_cast<const Clock*>(reinterpret_cast<const char*>(control_) +
                                        control_->queries_offset);
}

void Scheduler::answer_queries(Clock event) {
  while (next_query_ < control_->queries_count && queries()[next_query_] <= event) {
    if (queries()[next_query_] == event) surroundings_->report_stacks(event);
    ++next_query_;
  }
}

// REQUIRES: the clock is settled.
SinceOwnEvent& Scheduler::since_own_event() {
  const std::uint64_t own = own_number(clock_.settled() + 1);
  if (current->since.own_event != own) current->since = {own, 0, 0};
  return current->since;
}

// --- the slow side of a yield point ------------------------------------------------------------

void Scheduler::reach_slow() {
  if (current->no_yield != 0) return clock_.stop_counting();
  if (clock_.pass_for_listeners()) return;
  if (current->slice_place == 0) current->slice_place = current->reached.place;
  clock_.begin_event();
  for (;;) {
    const Clock event = clock_.settled() + 1;
    if (event >= control_->budget) surroundings_->end_at_budget();
    if (CLEW_UNLIKELY(event >= checkpoint_at)) surroundings_->stop_at_checkpoint();
    if (!timers.empty()) fire_timers();
    if (CLEW_UNLIKELY(event >= poll_at)) surroundings_->poll(event);
    if (CLEW_UNLIKELY(current->disturbed)) {
      surroundings_->attend(*current, kUndisturbed);
      clock_.settle();
      continue;
    }
    const Decision decision = decide(event);
    if (decision.kind == Decision::Kind::kNext && queue_.empty()) continue;
    if (decision.kind != Decision::Kind::kStay) {
      preempt(event, decision);
      continue;
    }
    if (!at_every_point() || coasts(event) || current->reached.step.object == 0) break;
    consult(event);
    if (CLEW_UNLIKELY(coasting_.asked(clock_.settled() + 1))) uncovered |= abi::kUncoveredRest;
    if (CLEW_UNLIKELY(counts.points >= kMostPoints)) stop_asking();
    if (CLEW_LIKELY(!current->disturbed)) break;
  }
  if (at_every_point() && clock_.settled() >= last_decision()) stop_asking();
  answer_queries(clock_.settled() + 1);
  clock_.end_event();
  rearm();
}

// Whether the strategy is not asked at this event, which is looked at for another reason.
bool Scheduler::coasts(Clock event) {
  if (coasting_.on() && event >= coasting_.until()) coasting_.stop();
  return coasting_.on();
}

void Scheduler::stop_asking() {
  decider_.stop();
  uncovered |= abi::kUncoveredRest;
}

// --- announcing --------------------------------------------------------------------------------

Event Scheduler::event_of(const Step& step, Counted counted) const {
  return {.thread = {current->key, current->index},
          .in_handler = current->interruptions > 0,
          .alone = !threads.had_company(),
          .counted = counted == Counted::kYes && current->no_yield == 0,
          .clock = clock(),
          .own = own_event(*current) - 1,
          .step = step};
}

void Scheduler::announce_slow(const Step& step, Counted counted) {
  g_listeners.before(event_of(step, counted));
}

void Scheduler::announce_to_each_slow(const Step& step) {
  g_listeners.before_each(event_of(step, Counted::kYes));
}

void Scheduler::announce_in_region(const Step& step) {
  clock_.stop_counting();
  if (g_listeners.hears_regions() && step.object != 0)
    g_listeners.before_in_region(event_of(step, Counted::kNo));
}

void Scheduler::announce_sync_slow(Synchronised::Kind kind, std::uintptr_t object,
                                   abi::WaitKind lock) {
  g_stretch.begin();
  g_listeners.synchronised({.thread = {current->key, current->index},
                            .kind = kind,
                            .lock = lock,
                            .waits = current->reached.can_proceed != nullptr,
                            .object = object,
                            .clock = clock(),
                            .place = current->reached.place});
}

void Scheduler::announce_fence(const Step& step) {
  g_stretch.begin();
  if (CLEW_LIKELY(!g_listeners.hears_of(kTopicSync))) return;
  g_listeners.synchronised({.thread = {current->key, current->index},
                            .kind = Synchronised::Kind::kFence,
                            .order = step.order,
                            .clock = clock(),
                            .place = step.place});
}

void Scheduler::announce_memory_slow(MemoryChange::Kind kind, std::uintptr_t address,
                                     std::uint64_t size, const void* caller) {
  g_stretch.forget(address, size);
  g_listeners.changed({.thread = {current->key, current->index},
                       .kind = kind,
                       .address = address,
                       .size = size,
                       .clock = clock(),
                       .caller = caller});
}

void Scheduler::announce_result_slow(std::uint64_t value) {
  Event event = event_of(current->reached.step, Counted::kYes);
  event.value = value;
  g_listeners.after(event);
}

// --- regions without yield points --------------------------------------------------------------

void Scheduler::enter_no_yield() {
  ++current->no_yield;
  clock_.stop_counting();
}

void Scheduler::leave_no_yield() {
  if (current->no_yield == 0 || --current->no_yield != 0) return;
  clock_.start_counting();
  rearm();
}

void Scheduler::enter_handler() {
  if (current->no_yield++ == 0) {
    interrupted_clock_ = clock_.fall_back();
  } else {
    clock_.stop_counting();
  }
}

void Scheduler::leave_handler(std::int64_t left) {
  if (--current->no_yield == 0) clock_.resume_counting(left);
}

// Where the fault struck, points may have been counted that were not reached, and a replay may have
// counted others of the same batch: it takes the recorded clock. No decision lies between the two,
// because a batch is counted at once only if none lies in it.
void Scheduler::leave_handler_by_jump() {
  clock_.catch_up(surroundings_->clock_of_jump(interrupted_clock_));
  current->no_yield = 0;
  clock_.start_counting();
  rearm();
}

}  // namespace clew::rt
