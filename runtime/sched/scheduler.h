// The scheduler. All threads of the program are fibers on one kernel thread; exactly one runs.
//
// Policy, the same in every mode:
//  - The run queue is first in, first out. A new thread goes to its end and its creator runs
//    on. A preempted, yielding or woken thread goes to its end.
//  - A switch happens only at a yield point (because the strategy asks for it, or because the
//  thread has
//    passed `fair_slice` points on end while others could run), when a thread blocks, ends, or
//    yields of its own will (sched_yield, pause).
//  - Blocking switches go to the head of the queue, unless the strategy picks another. Those to the
//    head follow from the state and are not recorded; preemptions and other answers than the
//    default (abi::ChoiceKind) are.
//  - Time is virtual: kNanosPerPoint for each point, and a jump to the next deadline when nobody
//  can run.
//  - Nobody can run and no deadline is pending: a deadlock, exactly.
//
// Clock: an event gets its number when its thread passes the point. A thread parked at a point
// has not passed it; whoever runs next takes the number (paper 1, figures 3 to 5).
#ifndef CLEW_RUNTIME_SCHED_SCHEDULER_H_
#define CLEW_RUNTIME_SCHED_SCHEDULER_H_

#include "clew_abi/control.h"
#include "runtime/sched/fiber.h"
#include "runtime/strategy/strategy.h"

namespace clew::rt {

inline constexpr Nanos kNanosPerPoint = 10;
// What a call of the kernel costs, and a read of the clock: a loop that makes nothing but calls
// until some time has passed gets on.
inline constexpr Nanos kNanosPerCall = 1000;
// What making a thread costs.
inline constexpr Nanos kNanosPerThread = 50'000;

// Voluntary yields on end, after which those who yield go on in turn, whatever the strategy: it may
// prefer some who spin for ever to the one that they wait for.
inline constexpr std::uint64_t kMostPickedYields = 1000;

// A countdown that never runs out.
inline constexpr std::int64_t kUnlimited = std::int64_t{1} << 62;

class RunQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  Fiber* head() const { return head_; }
  void push(Fiber* fiber);
  Fiber* pop();
  void remove(Fiber* fiber);

 private:
  Fiber* head_ = nullptr;
  Fiber* tail_ = nullptr;
};

class Scheduler {
 public:
  // Whether clew is in charge of this process. When not, every interposed function
  // goes straight to libc.
  bool active = false;
  Fiber* current = nullptr;

  ThreadRecord* threads = nullptr;
  std::uint32_t thread_count = 0;
  int process = 0;  // its number, as the program knows it: in a replay the recorded one
  std::uint64_t switches = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t points = 0;      // scheduling points passed
  std::uint8_t questions = 0;    // bits 1 << ChoiceKind that have arisen
  bool handlers_wanted = false;  // a signal was sent that has a handler

  void init(abi::Control& control, Fiber* main);

  // Events passed so far. Exact at points, in calls and in what they call. Between two
  // points of a straight line of code it may be ahead: the compiler counts such points at once.
  Clock clock() const {
    return current->no_yield != 0 ? clock_ : limit_ - 1 - static_cast<Clock>(*current->countdown);
  }
  // The number of `event` among those of the running thread, from 1, if it executes that next.
  std::uint64_t own_number(Clock event) const {
    return current->events + 1 + event - current->slice_begin;
  }
  // The number of the event that the thread executes next. Exact when clock() is.
  std::uint64_t own_event(const Fiber& fiber) const {
    return &fiber == current ? own_number(clock() + 1) : fiber.events + 1;
  }
  std::uint64_t own_event() const { return own_event(*current); }
  // Of the running thread, up to date.
  Standing& standing() {
    const std::uint64_t own = own_event();
    if (current->standing.own_event != own) current->standing = {own, 0, 0};
    return current->standing;
  }
  // The last event at which another thread could have run instead; 0: none.
  Clock last_company() const { return company_since_ < clock() ? clock() : company_; }
  // Whether any thread but the running one can run.
  bool others_can_run() const { return !queue_.empty(); }

  // Events passed at the last switch or synchronisation call: exact whenever it is asked.
  Clock last_certain_clock() const { return certain_clock_; }
  void note_certain_clock(Clock clock) { certain_clock_ = clock; }

  // The running thread has reached `place`, an event of its own. Inline fast path.
  void yield_at(abi::Place place) {
    current->place = place;
    if (CLEW_UNLIKELY(--*current->countdown < 0)) yield_slow();
  }
  // The slow side of a point whose countdown has run out.
  void yield_slow();
  // The same for a strategy that decides at every scheduling point, when this is none.
  bool pass_quickly() {
    if (CLEW_UNLIKELY(limit_ >= attention_)) return false;
    clock_ = limit_++;
    *current->countdown = 0;
    return true;
  }
  bool at_every_point() const { return at_every_point_; }
  // The running thread has just passed its `step`, which the trace of a strategy that follows wants
  // (Trace::wants_step).
  void trace_passed(const Step& step);

  // The strategy's answer to a question with answers 0 (the default) to count - 1.
  std::uint32_t choose(abi::ChoiceKind kind, std::uint32_t count = 2);
  // The running thread has just passed the point of a weak compare-exchange: does it fail?
  bool weak_cas_fails();
  // Whether more than one thread lives: otherwise there is nothing to choose.
  bool has_company() const { return living_ > 1; }
  // Whether what the running thread does could come at another time relative to what another thread
  // does or did: one that has ended counts until it is joined.
  bool had_company() const { return living_ + ended_ > 1; }
  void note_joined() { --ended_; }

  // A new run of the program, from here on: the strategy and what was counted for it.
  void begin_job(const abi::Job& job);
  // Hands the CPU on of the thread's own will, to the next in the queue.
  void yield_voluntarily();

  // The running thread spins where no points pass, for `spent` of processor time since anything
  // happened. What has come in the meantime may wake others or disturb it: signals and data from
  // outside, and the next deadline, if that much time takes virtual time there. What it took is
  // subtracted. Whether there is a reason to hand on.
  bool has_to_hand_on(Nanos& spent);
  // Lets the others run, if any can, and attends to what the running thread was disturbed for.
  void hand_on();

  // The running thread is about to end the program: another may go on before it does.
  void before_exit();

  // Blocks the running thread until it is woken, the deadline passes, or it is disturbed in one of
  // the ways that end the wait (Disturbances).
  Woke block(abi::WaitKind kind, const void* object, Nanos deadline, unsigned ended_by);
  // The same, with a wait that the caller has made: kind, object and bits are filled in.
  Woke block(Wait& wait, Nanos deadline, unsigned ended_by);
  // Undisturbed. Whether it was woken.
  bool block(abi::WaitKind kind, const void* object, Nanos deadline) {
    return block(kind, object, deadline, kUndisturbed) == Woke::kByObject;
  }
  // The thread has something to attend to: a blocked one gets the CPU for it, in the middle of its
  // wait.
  void disturb(Fiber* fiber);
  // Ends a wait that is in no bucket.
  void wake(Wait& wait);
  // The running thread leaves the frames below `stack`, and those below `own` on the runtime's own
  // stack, without returning through them.
  void abandon_waits_below(std::uintptr_t stack, std::uintptr_t own);
  // Makes the longest waiting thread (of those with a common bit) runnable; null if none waits.
  Fiber* wake_one(const void* object, std::uint32_t bits = ~0u) {
    return bucket_of(object).head == nullptr ? nullptr : wake_waiter(object, bits);
  }
  std::uint32_t wake_all(const void* object);
  // Moves one waiter of `from` to `to` (futex requeue).
  bool requeue_one(const void* from, const void* to);
  bool has_waiter(const void* object, abi::WaitKind kind) const;

  // A thread that does not run yet.
  void add(Fiber* fiber);
  // First thing that a new thread does.
  void started();
  // The running thread is over; never returns to it.
  [[noreturn]] void finish_current();
  // The running thread is the only one: this process is a copy of the program.
  void forget_others();
  // Frees a finished thread. REQUIRES: it is not the current one.
  void reclaim(Fiber* fiber);
  Fiber* find(pthread_t handle);
  Fiber* find_by_key(abi::ThreadKey key);  // of those that have not ended

  Nanos now() const;                    // since the virtual start of the machine
  Nanos idle() const { return idle_; }  // of that, when nobody could run
  // The process's time on processors begins anew.
  void begin_processor_time() {
    idle_ = now();
    current->clock_reads = -static_cast<Nanos>(own_event() - 1) * kNanosPerPoint;
  }
  // At the last switch or synchronisation call: exact whenever it is asked.
  Nanos certain_now() const { return static_cast<Nanos>(certain_clock_) * kNanosPerPoint + skew_; }
  // The same event may be due sooner: a timer was armed, or the running thread is disturbed.
  void look_again();
  // Time passes that no point accounts for.
  void pass_time(Nanos t);
  // The same while nobody can run. REQUIRES: no timer is due by then.
  void pass_idle_time(Nanos t);
  void arm(Timer& timer, Nanos deadline);
  void disarm(Timer& timer);

  void enter_no_yield();
  void leave_no_yield();
  // A signal handler: a region that ends with the countdown as it was, or by a jump.
  void enter_handler();
  void leave_handler(std::int64_t countdown);
  void leave_handler_by_jump();
  // Calls `visit` in the context of every other living thread, so that it can walk its own stack.
  void visit_others(void (*visit)(Fiber&));

  // Whether thread `index` has this path of creation as its name ("T0.2.1").
  bool is_named(std::uint64_t index, const char* name) const;
  void format_id(std::uint32_t index, char* out, std::size_t size) const;

  // For the deadlock report and the debugger.
  template <class F>
  void for_each_living(F f) {
    for (Fiber* fiber = oldest_; fiber != nullptr; fiber = fiber->younger)
      if (fiber->state != FiberState::kFinished) f(*fiber);
  }

  Fiber* new_fiber(Fiber* parent);
  void discard(Fiber* fiber);

  // Whether what is reported has code addresses in it even when nothing fails.
  bool reports_places() const {
    return (control_->flags & abi::kFlagSlices) != 0 || control_->queries_count != 0;
  }

  // Why a schedule was not followed to its end, if so.
  bool left_over(char* reason, std::size_t size) {
    return strategy_->left_over(clock(), reason, size);
  }

 private:
  static constexpr std::size_t kBuckets = 1024;
  struct Bucket {
    Wait* head;
    Wait* tail;
  };

  Bucket& bucket_of(const void* object) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    return buckets_[((address >> 2) * 0x9e37'79b9'7f4a'7c15) >> 54];
  }
  Fiber* wake_waiter(const void* object, std::uint32_t bits);
  void link(Wait& wait);
  void unlink(Wait& wait);
  void over(Wait& wait);  // one of a thread's waits: it may go on
  void abandon(Wait& wait);
  void make_runnable(Fiber* fiber);
  void enqueue(Fiber* fiber);  // while another runs
  static void wait_timed_out(Timer& timer);
  void fire_timers();
  bool time_ran_out_early(const Wait& wait);
  void let_time_pass_until(Nanos deadline);

  void settle_clock();
  void rearm();
  void consult(Clock event);
  Fiber* pick(const Candidates& candidates);
  Fiber* who_goes_on(Fiber* running, Fiber* otherwise, const Question& question);
  void stop_deciding();
  Clock last_decision() const;
  std::uint64_t fair_slice() const;
  Candidates gather(Fiber* running);
  Candidate candidate_of(const Fiber& fiber) const;
  void execute(const Fiber& thread, std::uint64_t enabled, std::uint8_t flags);
  Wait* waiter_to_wake(const void* object, std::uint32_t bits);
  std::uint32_t next_ordinal(Clock event);
  Question next_question();
  std::uint32_t ask(abi::ChoiceKind kind, std::uint32_t count, const Question& question);
  void note_choice(abi::ChoiceKind kind, const Question& question, std::uint64_t value,
                   abi::ThreadKey to);
  bool pass_in_window();
  void answer_queries(Clock event);
  const Clock* queries() const;
  Nanos now_settled() const { return static_cast<Nanos>(clock_) * kNanosPerPoint + skew_; }
  void preempt(Clock event, Decision decision);
  Fiber* next_to_run();
  [[noreturn]] void end_at_budget();
  [[noreturn]] void end_stuck();
  Fiber* take_next();
  void switch_to(Fiber* to, abi::SliceEnd why);
  void resumed();
  void forget(Fiber* fiber);
  void free_fiber(Fiber* fiber);

  static constexpr std::size_t kMaxThreads = std::size_t{1} << 22;
  RunQueue queue_;
  Bucket buckets_[kBuckets] = {};
  Timer* timers_ = nullptr;
  Fiber* free_fibers_ = nullptr;
  Fiber* switched_from_ = nullptr;
  Fiber* zombie_ = nullptr;  // finished and detached, its stack still in use until the switch
  Fiber* oldest_ = nullptr;  // of those that are not gone
  Fiber* youngest_ = nullptr;
  std::uint32_t living_ = 0;
  std::uint32_t ended_ = 0;  // and not joined

  abi::Control* control_ = nullptr;
  Strategy* strategy_ = nullptr;
  Clock clock_ = 0;      // as of the last settle_clock
  Clock limit_ = 0;      // the event at which the countdown runs out
  Clock attention_ = 0;  // the event at which anything but a strategy for every point, or but the
                         // window of a trace, has to act
  bool only_traced_ = false;  // the newest event was looked at for the trace alone
  bool at_every_point_ = false;
  bool picks_ = false;
  std::uint32_t choices_ = 0;  // bits 1 << ChoiceKind that the strategy is asked about
  Clock choice_clock_ = 0;     // of the newest question
  std::uint32_t choice_ordinal_ = 0;
  Candidate* candidates_ = nullptr;
  Fiber** candidate_fibers_ = nullptr;
  std::uint32_t candidates_room_ = 0;
  std::uint64_t enabled_ = 0;  // of the newest gather()
  Clock certain_clock_ = 0;
  Clock interrupted_clock_ = 0;  // when a fault's handler began: exact or ahead
  Clock company_since_ =
      kNever;          // events passed when a thread joined the empty queue; kNever: empty
  Clock company_ = 0;  // as of the last switch
  Clock slice_begin_ = 0;
  Nanos skew_ = 0;
  Nanos idle_ = 0;
  std::uint64_t idle_yields_ = 0;
  std::uint64_t next_query_ = 0;

  void (*visit_)(Fiber&) = nullptr;
  Fiber* visitor_ = nullptr;
};

extern Scheduler g_sched;

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_SCHEDULER_H_
