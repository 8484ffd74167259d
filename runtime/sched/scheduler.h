// The scheduler. All threads of the program are fibers on one kernel thread; exactly one runs.
//
// Policy, the same in every mode:
//  - The run queue is first in, first out. A new thread is put at its end and its creator
//    continues. A preempted, yielding or woken thread is put at its end.
//  - A switch happens only at a yield point (because the strategy asks for it, or because the
//    thread has passed up to `fair_slice` points in a row while others could run), when a thread blocks,
//    ends, or yields voluntarily (sched_yield, pause).
//  - Blocking switches take the head of the queue, unless the strategy picks another. Those to the
//    head follow from the state and are not recorded; preemptions and other answers than the
//    default (abi::ChoiceKind) are.
//  - Time is virtual: kNanosPerPoint for each point, and a jump to the next deadline when nobody
//    can run.
//  - Nobody can run and no deadline is pending: a deadlock, exactly.
//
// The parts, each with an invariant of its own: the event clock (event_clock.h), who waits for what
// (wait_table.h) and for when (timers.h), the threads (thread_registry.h), the asking of strategies
// (decider.h). What is left here is the queue and the switch. What happens is announced
// (event/listener.h); what stands on top of the scheduler is reached through surroundings.h.
#ifndef CLEW_RUNTIME_SCHED_SCHEDULER_H_
#define CLEW_RUNTIME_SCHED_SCHEDULER_H_

#include "clew_abi/control.h"
#include "runtime/event/hash.h"
#include "runtime/event/listener.h"
#include "runtime/event/sharing.h"
#include "runtime/event/stretch.h"
#include "runtime/sched/coasting.h"
#include "runtime/sched/decider.h"
#include "runtime/sched/event_clock.h"
#include "runtime/sched/fiber.h"
#include "runtime/sched/run_queue.h"
#include "runtime/sched/surroundings.h"
#include "runtime/sched/thread_registry.h"
#include "runtime/sched/timers.h"
#include "runtime/sched/wait_table.h"
#include "runtime/strategy/run.h"

namespace clew::rt {

// Virtual time of a call of the kernel, and of a read of the clock: a loop that makes nothing but
// calls until some time has passed ends. The order of magnitude of Linux' cheaper calls.
inline constexpr Nanos kNanosPerCall = 1000;
// Of making a thread: the order of magnitude of pthread_create.
inline constexpr Nanos kNanosPerThread = 50'000;
// How late a wait for a time ends, for each unit of speed beyond the first (abi::Control::clock_speed):
// Linux' default timer slack. At speed 1 it ends on time.
inline constexpr Nanos kSlack = 50'000;

// What a run's result tells of it.
struct RunCounts {
  std::uint64_t switches = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t points = 0;  // scheduling points passed
};

class Scheduler final : private Run {
 public:
  // Whether clew is in charge of this process. When not, every interposed function
  // goes straight to libc.
  bool active = false;
  Fiber* current = nullptr;

  ThreadRegistry threads;
  Timers timers;
  RunCounts counts;
  int process = 0;             // its number, as the program knows it: in a replay the recorded one
  std::uint8_t uncovered = 0;  // abi::Uncovered
  bool debugged = false;       // a debugger wants to know where threads are parked
  Clock poll_at = kNever;      // the event at which something from outside is looked for
  Clock checkpoint_at = kNever;  // the event before which the run stops (kJobCheckpoint)

  void init(abi::Control& control, Surroundings& surroundings, Fiber& main);
  // A new run of the program, from here on: the strategy, and those who listen.
  void begin_job(const abi::Job& job);

  // The list of those who listen has got longer.
  void listen_again();

  // --- events
  // Events passed so far (EventClock::now).
  Clock clock() const { return clock_.now(); }
  EventClock::Parts clock_parts() const { return clock_.parts(); }
  // Events passed at the last switch or synchronisation call: exact whenever it is asked.
  Clock last_certain_clock() const { return clock_.certain(); }
  // The number of the event that the thread executes next, among its own, from 1. Exact when
  // clock() is.
  std::uint64_t own_event(const Fiber& fiber) const {
    return &fiber == current ? own_number(clock() + 1) : fiber.events + 1;
  }
  // The last event at which another thread could have run instead; 0: none.
  Clock last_company() const { return company_since_ < clock() ? clock() : company_; }

  bool at_every_point() const { return decider_.at_every_point(); }
  // Whether it is looked at now. While there is one thread nothing can come between its events, and
  // they are counted down as in a run without such a strategy; so are the points of a long run that
  // the strategy is not asked at (coasting.h).
  bool looks_at_every_point() const {
    return at_every_point() && threads.had_company() && !coasting_.on();
  }
  // The running thread has passed a point, and nothing is to be done but to announce the access if it
  // is no repetition.
  bool passed_for_listeners() const { return clock_.passed_for_listeners(); }
  void announce_plain(const Step& step) {
    g_listeners.accesses({step.object, step.size, current->index,
                          step.point == abi::PointKind::kStore, !threads.had_company(), clock(),
                          step.place});
  }
  // Whether the newest event would not have been looked at, were it not for those who want each.
  bool only_listened_to() const { return clock_.only_listened_to(); }
  // The next event is looked at all the same.
  void look_at_next();
  // The thread has been joined.
  void note_joined(const Fiber& ended);
  // The running thread passes an event that is no scheduling point of a strategy that decides at
  // every one. False: something else is due there.
  bool pass_quickly() { return clock_.pass_quickly(); }
  // The running thread has reached an event of its own. Returns when it passes it. Inline fast
  // path.
  void reach(const Reached& reached) {
    current->reached = reached;
    if (CLEW_UNLIKELY(!clock_.count())) reach_slow();
  }
  // The same for a point whose countdown has run out.
  void reach_at_limit(const Reached& reached) {
    current->reached = reached;
    reach_slow();
  }
  // The same in a call that is no event.
  void reach_uncounted(const Reached& reached) { current->reached = reached; }
  // The running thread does this next.
  enum class Counted : std::uint8_t { kNo, kYes };
  void announce(const Step& step, Counted counted) {
    if (CLEW_UNLIKELY(g_listeners.hears(clock()))) announce_slow(step, counted);
  }
  // The same of an event that is looked at only because somebody wants to hear of each.
  void announce_to_each(const Step& step) {
    if (CLEW_UNLIKELY(g_listeners.looked_at().has(clock()))) announce_to_each_slow(step);
  }
  // The running thread is in a region without yield points, and does this next.
  void announce_in_region(const Step& step);
  // The running thread has synchronised by something else than an access.
  void announce_sync(Synchronised::Kind kind, const volatile void* object,
                     abi::WaitKind lock = abi::WaitKind::kNothing) {
    if (CLEW_UNLIKELY(g_listeners.hears_of(kTopicSync)))
      announce_sync_slow(kind, reinterpret_cast<std::uintptr_t>(object), lock);
  }
  void announce_fence(const Step& step);
  void announce_memory(MemoryChange::Kind kind, const void* address, std::uint64_t size,
                       const void* caller) {
    if (CLEW_UNLIKELY(g_listeners.hears_of(kTopicMemory)))
      announce_memory_slow(kind, reinterpret_cast<std::uintptr_t>(address), size, caller);
  }
  // The call that was announced last has returned.
  void announce_result(std::uint64_t value) {
    if (CLEW_UNLIKELY(g_listeners.hears_result(clock()))) announce_result_slow(value);
  }
  // The run ends after `clock` events.
  void announce_end(Clock clock) { leave_slice(*current, clock, abi::SliceEnd::kRunEnded); }
  // A call of a synchronisation function, part of the hash.
  void note_call(std::uint64_t operation) {
    const Clock now = clock();
    clock_.note_certain(now);
    g_hash.fold(operation ^ now << 8 ^ static_cast<std::uint64_t>(current->index) << 48);
  }

  // --- questions to the strategy
  // The answer, 0 (the default) or 1.
  bool happens(abi::ChoiceKind kind);
  // Manner::short_sleeps; that is noted as an answer, so that a recording has it.
  bool sleep_is_over_at_once();
  // The running thread has just passed the point of a weak compare-exchange: does it fail?
  bool weak_cas_fails();
  // The running thread is about to end the program: another may run before it does.
  void before_exit();
  // Kinds of questions that have arisen: bits 1 << abi::ChoiceKind.
  std::uint8_t questions() const { return decider_.arisen(); }
  // Why a schedule was not followed to its end, if so.
  bool left_over(char* reason, std::size_t size) {
    return decider_.strategy().left_over(clock(), reason, size);
  }
  const Strategy& strategy() const { return decider_.strategy(); }

  // --- giving the processor away
  // Whether any thread but the running one can run.
  bool others_can_run() const override { return !queue_.empty(); }
  void yield_voluntarily();
  // The running thread spins where no points pass, for `spent` of processor time since anything
  // happened. What has come in the meantime may wake others or disturb it: signals and data from
  // outside, and the next deadline, if that much time takes virtual time there. What it took is
  // subtracted. Whether there is a reason to hand the processor on.
  bool has_to_hand_on(Nanos& spent);
  // Lets the others run, if any can, and attends to what the running thread was disturbed for.
  void hand_on();

  // --- waiting
  // Blocks the running thread until it is woken, the deadline passes, or it is disturbed in one of
  // the ways that end the wait (Disturbances).
  Woke block(abi::WaitKind kind, const void* object, Nanos deadline, unsigned ended_by);
  // The same with a wait that the caller has made: kind, object and bits are filled in.
  Woke block(Wait& wait, Nanos deadline, unsigned ended_by);
  // Undisturbed. Whether it was woken.
  bool block(abi::WaitKind kind, const void* object, Nanos deadline) {
    return block(kind, object, deadline, kUndisturbed) == Woke::kByObject;
  }
  // The thread has something to attend to: a blocked one gets the processor for it, in the middle
  // of its wait.
  void disturb(Fiber* fiber);
  // Ends a wait that is in no bucket.
  void wake(Wait& wait);
  // Makes the longest waiting thread (of those with a common bit) runnable; null if none waits.
  Fiber* wake_one(const void* object, std::uint32_t bits = ~0u) {
    return waits_.may_have(object) ? wake_waiter(object, bits) : nullptr;
  }
  std::uint32_t wake_all(const void* object);
  bool has_waiter(const void* object, abi::WaitKind kind) const { return waits_.has(object, kind); }
  bool requeue_one(const void* from, const void* to) { return waits_.requeue_one(from, to); }
  // The running thread leaves the frames below `stack`, and those below `own` on the runtime's own
  // stack, without returning through them.
  void abandon_waits_below(std::uintptr_t stack, std::uintptr_t own);

  // --- time
  Nanos now() const { return clock_.time(); }  // since the virtual start of the machine
  Nanos idle() const { return clock_.idle(); }
  // At the last switch or synchronisation call: exact whenever it is asked.
  Nanos certain_now() const { return clock_.certain_time(); }
  // Time passes that no point accounts for.
  void pass_time(Nanos t);
  // What takes `usual` at speed 1 takes so much (abi::Control::clock_speed).
  Nanos at_speed(Nanos usual) const { return clock_.at_speed(usual); }
  // The same while nobody can run. REQUIRES: no timer is due by then.
  void pass_idle_time(Nanos t) { clock_.pass_idle(t); }
  // The process's time on processors begins anew.
  void begin_processor_time();
  // What is due next may be due sooner than it was: a timer was armed, or the running thread is
  // disturbed.
  void look_again();

  // --- threads
  // A thread that does not run yet.
  void add(Fiber& fiber);
  // First thing that a new thread does.
  void started();
  // The running thread is over; never returns to it.
  [[noreturn]] void finish_current();
  // The running thread is the only one: this process is a copy of the program.
  void forget_others();
  // Frees a finished thread. REQUIRES: it is not the current one.
  void reclaim(Fiber& fiber);
  // Calls `visit` in the context of every other living thread, so that it can walk its own stack.
  void visit_others(void (*visit)(Fiber&));

  // --- regions without yield points
  void enter_no_yield();
  void leave_no_yield();
  // A signal handler: a region that ends with the countdown as it was, or by a jump.
  std::int64_t left_of_countdown() const { return clock_.left(); }
  void enter_handler();
  void leave_handler(std::int64_t left);
  void leave_handler_by_jump();

  // Whether what is reported has code addresses in it even when nothing fails.
  bool reports_places() const {
    return (control_->flags & abi::kFlagSlices) != 0 || control_->queries_count != 0;
  }

 private:
  // Run: what strategies that follow a recording see.
  Candidate running() const override { return candidate_of(*current); }
  ThreadIndex threads_created() const override { return threads.count(); }
  ThreadStatus status(ThreadIndex thread) const override;
  void name(ThreadIndex thread, char* out, std::size_t size) const override {
    threads.name(thread, out, size);
  }
  ThreadIndex find(abi::ThreadKey key) const override;
  abi::Place place() const override { return current->reached.place; }
  std::uint64_t own_number(Clock event) const override {
    return current->events + 1 + event - current->slice_begin;
  }
  std::uint32_t& preemptions_here() override { return since_own_event().preemptions; }
  std::uint16_t hash16() const override { return g_hash.value16(); }
  void note(const char* line) override { surroundings_->note(line); }
  void depart(Clock event, std::uint64_t thread, abi::Place place, const char* what) override {
    surroundings_->end_departed(event, thread, place, what);
  }

  // Events: scheduler.cc.
  void reach_slow();
  void stop_asking();
  bool coasts(Clock event);
  void announce_slow(const Step& step, Counted counted);
  void set_window();
  void announce_to_each_slow(const Step& step);
  void announce_sync_slow(Synchronised::Kind kind, std::uintptr_t object, abi::WaitKind lock);
  void announce_memory_slow(MemoryChange::Kind kind, std::uintptr_t address, std::uint64_t size,
                            const void* caller);
  void announce_result_slow(std::uint64_t value);
  Event event_of(const Step& step, Counted counted) const;
  void rearm();
  Clock next_attention();
  void answer_queries(Clock event);
  const Clock* queries() const;
  SinceOwnEvent& since_own_event();

  // Deciding: deciding.cc.
  Decision decide(Clock event);
  void consult(Clock event);
  Fiber* who_runs(Fiber* running, Fiber* otherwise, const Question& question);
  Fiber* take_next();
  Candidates gather(Fiber* running) {
    return decider_.gather(running, queue_, threads.living() + 1);
  }
  void passed_point(const Fiber& thread, std::uint64_t enabled, std::uint8_t flags);
  Clock last_decision() const;
  std::uint64_t fair_slice() const;
  Question next_question(abi::ChoiceKind kind, std::uint32_t count = 2);
  std::uint32_t ask(const Question& question);
  Wait* waiter_to_wake(const void* object, std::uint32_t bits);
  Wait* chosen_waiter(Wait* first, const void* object, std::uint32_t bits,
                      const Question& question);
  void note_choice(const Question& question, std::uint64_t value, ThreadName to);

  // Switching: switching.cc.
  void preempt(Clock event, Decision decision);
  void yield_to(Fiber* to);
  Fiber* next_to_run();
  void switch_to(Fiber* to, abi::SliceEnd why);
  void leave_slice(const Fiber& from, Clock last, abi::SliceEnd why);
  void resumed();

  // Waiting: waiting.cc.
  Fiber* wake_waiter(const void* object, std::uint32_t bits);
  void abandon(Wait& wait);
  void wait_is_over(Wait& wait);  // one of a thread's waits: it may become runnable
  void make_runnable(Fiber* fiber);
  void enqueue(Fiber* fiber);  // while another runs
  static void wait_timed_out(Timer& timer);
  bool time_ran_out_early(const Wait& wait);
  void fire_timers();
  void let_time_pass_until(Nanos deadline);

  abi::Control* control_ = nullptr;
  Surroundings* surroundings_ = nullptr;
  EventClock clock_;
  WaitTable waits_;
  Decider decider_;
  Coasting coasting_;
  RunQueue queue_;
  Fiber* switched_from_ = nullptr;
  Fiber* zombie_ = nullptr;  // finished and detached, its stack still in use until the switch
  // Events passed when a thread joined the empty queue; kNever: it is empty.
  Clock company_since_ = kNever;
  Clock company_ = 0;  // as of the last switch
  Clock slice_begin_ = 0;
  Clock interrupted_clock_ = 0;    // when a fault's handler began: exact or ahead
  std::uint64_t idle_yields_ = 0;  // voluntary yields in a row, with nothing else happening
  std::uint64_t next_query_ = 0;

  void (*visit_)(Fiber&) = nullptr;
  Fiber* visitor_ = nullptr;
};

extern Scheduler g_sched;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_SCHEDULER_H_
