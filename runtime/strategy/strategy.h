// Who runs next, as far as that is a choice. A strategy is a pure decider: it sees what the
// threads are about to do and answers; the scheduler does the rest. Strategies know nothing of the
// scheduler, allocate only through the arena, and can be tested outside a program
// (strategy_simulation.h).
//
// There are two ways to decide:
//  - by the clock (none, timer, schedule, script, chaos): next_decision() names the next event of
//  interest,
//    decide() is asked there;
//  - at every scheduling point (random, pct, pos, surw, rff, plan, prefix): at_every_point() is
//    true and pick() is asked whenever a thread is about to touch what threads share or to
//    synchronise, and whenever the running thread cannot go on.
//
// To add one: a class here-abouts, a line in CLEW_STRATEGIES (abi/job.h), a line in
// make_strategy().
#ifndef CLEW_RUNTIME_STRATEGY_STRATEGY_H_
#define CLEW_RUNTIME_STRATEGY_STRATEGY_H_

#include "clew_abi/job.h"
#include "runtime/rt.h"

namespace clew::rt {

struct Fiber;

struct Decision {
  enum class Kind : std::uint8_t {
    kStay,
    kNext,  // preempt: the head of the run queue goes on
    kTo,    // preempt: `to` goes on; REQUIRES that it is runnable
  };
  Kind kind = Kind::kStay;
  Fiber* to = nullptr;
};

// What a thread is about to do.
struct Step {
  std::uintptr_t object = 0;  // address accessed, or synchronisation object; 0: none
  abi::Place place = 0;
  std::uint32_t size = 0;  // of the access; 0: not known
  abi::StepKind kind = abi::StepKind::kOther;
};

// Whether the order of two steps of different threads can matter.
inline bool conflict(const Step& a, const Step& b) {
  if (a.object == 0 || b.object == 0) return false;
  if (a.kind == abi::StepKind::kRead && b.kind == abi::StepKind::kRead) return false;
  return a.object < b.object + (b.size > 0 ? b.size : 1) &&
         b.object < a.object + (a.size > 0 ? a.size : 1);
}

// A thread that can run. Its key and index are the same in every call.
struct Candidate {
  abi::ThreadKey key = 0;
  std::uint32_t index = 0;  // order of creation in this run
  Step step;
};

// Never empty. The running thread is first if it can go on; then those of the run queue, the
// longest ready first. A thread that is about to take a lock that another holds is not listed,
// unless there are no others.
struct Candidates {
  const Candidate* list;
  std::uint32_t count;
  bool current_first;  // list[0] is the running thread: any other answer is a preemption
};

// Where a question (abi::ChoiceKind) arises: before an event, as one of several. Both are counted
// over all threads, and over what the thread that asks does itself. For kCas the event is the one
// that has just been passed, and own_ordinal is 0.
struct Question {
  Clock event;
  std::uint32_t ordinal;
  std::uint64_t own_event;
  std::uint32_t own_ordinal;
};

class Strategy {
 public:
  // --- by the clock
  // The first event after `now` at which decide() wants to be asked; kNever: at none.
  virtual Clock next_decision(Clock now) {
    (void)now;
    return kNever;
  }
  // The running thread is about to execute `event`. Called again for the same event, with
  // whatever thread then runs, until the answer is kStay.
  virtual Decision decide(Clock event) {
    (void)event;
    return {};
  }
  // A thread begins to run; `event` will be its first.
  virtual void on_switch(Clock event) { (void)event; }

  // --- at every scheduling point
  virtual bool at_every_point() const { return false; }
  // Position of the thread that goes on. 0 is the default: the running thread if it can, else the
  // longest ready. For strategies by the clock it is asked only when the running thread cannot, and
  // only if picks() says so.
  virtual bool picks() const { return at_every_point(); }
  virtual std::uint32_t pick(const Candidates& candidates) {
    (void)candidates;
    return 0;
  }
  // The thread executes its step: it was picked, or nobody was asked because it was alone.
  virtual void executed(const Candidate& thread) { (void)thread; }
  // The running thread hands on of its own will (sched_yield), and is not among the candidates of
  // the pick that follows.
  virtual void yielded(const Candidate& thread) { (void)thread; }
  // A thread has been created (its first step is to start) or has ended.
  virtual void created(const Candidate& thread, abi::ThreadKey parent) {
    (void)thread, (void)parent;
  }
  virtual void finished(const Candidate& thread) { (void)thread; }

  // --- choices beyond switches (abi::ChoiceKind but kPick, which is pick())
  // An answer below `count`; 0 is the default. For kWake the number of the waiter in order of
  // waiting, for the others 1 means that it happens. Asked only for what the job allows.
  virtual std::uint32_t choose(abi::ChoiceKind kind, std::uint32_t count) {
    (void)kind, (void)count;
    return 0;
  }

  // --- following a recording
  // Whether answers come from follow() instead of pick() and choose().
  virtual bool follows() const { return false; }
  // The recorded answer to the question; null: the default. For kPick and kWake the thread,
  // otherwise anything but null.
  virtual const Fiber* follow(abi::ChoiceKind kind, const Question& question) {
    (void)kind, (void)question;
    return nullptr;
  }

  // The run has ended in order after `clock` events. Whether part of the schedule was left over,
  // and then why, in `reason`.
  virtual bool left_over(Clock clock, char* reason, std::size_t size) {
    (void)clock, (void)reason, (void)size;
    return false;
  }

 protected:
  ~Strategy() = default;
};

Strategy* make_strategy(const abi::Job& job);

// A job's parts lie behind the control structure; the host vouches for offsets and sizes.
const std::uint8_t* guide_of(const abi::Job& job);
const char* names_of(const abi::Job& job);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_STRATEGY_H_
