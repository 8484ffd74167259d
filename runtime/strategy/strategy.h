// Who runs next, as far as that is a choice. A strategy is a pure decider: it sees what the threads
// are about to do and answers; the scheduler does the rest. Strategies know nothing of the
// scheduler (those that follow a recording see the run through run.h), allocate only through the
// arena, and are tested in a simulated program (strategy_simulation.h).
//
// A strategy decides in one of two ways (Manner):
//  - by the clock (none, timer, schedule, script, chaos): next_decision() names the next event of
//    interest, and preempt() is asked there. In between the program runs at full speed.
//  - at every scheduling point (random, pct, pos, surw, rff, plan, prefix, round robin, noise): pick()
//    is asked whenever a thread is about to touch what threads share or to synchronise, and whenever
//    the running thread is blocked.
// In both, choose() answers the questions that are not about preemption, and learn() is told what
// happens.
//
// Strategies compose: a Wrapper (wrapper.h) is a strategy that asks another one and changes its
// answers, or adds to them.
//
// To add one: a class in this folder, a line in CLEW_STRATEGIES (abi/clew_abi/job.h), a line in
// make_strategy().
#ifndef CLEW_RUNTIME_STRATEGY_STRATEGY_H_
#define CLEW_RUNTIME_STRATEGY_STRATEGY_H_

#include "clew_abi/job.h"
#include "runtime/event/step.h"
#include "runtime/rt.h"

namespace clew::rt {

// How a strategy wants to be asked. Fixed for its life.
struct Manner {
  // pick() is asked at every scheduling point; otherwise preempt() by the clock.
  bool at_every_point = false;
  // pick() is asked when the running thread is blocked; otherwise the longest ready thread runs.
  bool picks = false;
  // The answers are recorded ones: choose() is asked in place of pick() too (ChoiceKind::kPick),
  // and whatever the job's choices.
  bool follows = false;
  // At every point: a sleep is over as soon as it begins, if others can run. How long the thread
  // then waits until it is picked is the strategy's to decide, so that no length of a sleep is
  // left out.
  bool short_sleeps = false;
  // At every point: in a long run it need not be asked at each (sched/coasting.h).
  bool may_coast = false;
};
inline constexpr Manner kByClock{};
inline constexpr Manner kByClockAndPicks{.picks = true};
inline constexpr Manner kAtEveryPoint{.at_every_point = true, .picks = true};
inline constexpr Manner kSamples{.at_every_point = true, .picks = true, .may_coast = true};
inline constexpr Manner kFollows{.follows = true};

// The number of a thread in order of creation in this run.
using ThreadIndex = std::uint32_t;

// Whether the running thread is preempted, and by whom.
struct Decision {
  enum class Kind : std::uint8_t {
    kStay,
    kNext,  // by the head of the run queue
    kTo,    // by `to`; REQUIRES that it is runnable
  };
  Kind kind = Kind::kStay;
  ThreadIndex to = 0;
};

// A thread that can run. Its key and index are the same in every call. The step of one that has not
// started yet is to start, that of one that is about to end the program is to end it: neither has a
// place.
struct Candidate {
  abi::ThreadKey key = 0;
  ThreadIndex index = 0;
  Step step;
};

// Never empty. The running thread is first if it can continue; then those of the run queue, the
// longest ready first. A thread that is about to take a lock that another holds is not listed,
// unless there are no others.
struct Candidates {
  const Candidate* list;
  std::uint32_t count;
  bool current_first;  // list[0] is the running thread: any other answer is a preemption
};

// A question other than who preempts whom. It arises before an event, as one of several; event and
// ordinal are counted over all threads, own_event and own_ordinal over what the asking thread does
// itself. For kCas the event is the one that has just been passed, and own_ordinal is 0.
struct Question {
  abi::ChoiceKind kind = abi::ChoiceKind::kPick;
  std::uint32_t count = 2;  // answers are 0 (the default) to count - 1; not for kPick
  Clock event = 0;
  std::uint32_t ordinal = 0;
  std::uint64_t own_event = 0;
  std::uint32_t own_ordinal = 0;
};

struct Choice {
  enum class Kind : std::uint8_t {
    kDefault,
    kPosition,  // for kWake the number of the waiter in order of waiting; for the others 1: it
                // happens
    kThread,    // kPick and kWake: this thread, if it is among those that can be taken
  };
  static Choice position(std::uint32_t value) { return {Kind::kPosition, value}; }
  static Choice thread(ThreadIndex index) { return {Kind::kThread, index}; }

  Kind kind = Kind::kDefault;
  std::uint32_t value = 0;
};

// What strategies are told.
struct Occurrence {
  enum class Kind : std::uint8_t {
    kExecuted,  // the thread executes its step: it was picked, or alone; at every point only
    kYielded,   // the thread yields voluntarily and is not among the candidates that follow
    kCreated,   // by `parent`; the first step of the thread is to start
    kFinished,
    kSwitched,  // the thread begins to run, and `event` will be its first
  };
  Kind kind;
  const Candidate& thread;
  abi::ThreadKey parent = 0;  // kCreated
  Clock event = 0;            // kSwitched
};

class Strategy {
 public:
  const Manner manner;

  // By the clock: the first event after `now` at which preempt() is to be asked; kNever: at none.
  virtual Clock next_decision(Clock now) {
    (void)now;
    return kNever;
  }
  // By the clock: the running thread is about to execute `event`. Asked again for the same event,
  // with whatever thread then runs, until the answer is kStay.
  virtual Decision preempt(Clock event) {
    (void)event;
    return {};
  }
  // Position of the thread that runs. 0 is the default: the running thread if it can, else the
  // longest ready.
  virtual std::uint32_t pick(const Candidates& candidates) {
    (void)candidates;
    return 0;
  }
  // Whether pick() would answer 0 with this thread first, whoever else could run: then it need not be
  // asked, nor the others be gathered. Asked once before each scheduling point. False is always right.
  virtual bool continues(const Candidate& running) {
    (void)running;
    return false;
  }
  // Asked only for the kinds that the job allows, unless the strategy follows.
  virtual Choice choose(const Question& question) {
    (void)question;
    return {};
  }
  virtual void learn(const Occurrence& occurrence) { (void)occurrence; }
  // The run has ended in order after `clock` events. Whether part of the schedule was left over,
  // and then why, in `reason`.
  virtual bool left_over(Clock clock, char* reason, std::size_t size) {
    (void)clock, (void)reason, (void)size;
    return false;
  }
  // What it has seen of loops in which threads wait (abi::LoopsLeft).
  virtual std::uint8_t loops() const { return 0; }
  // Of abi::Uncovered: what it has left out by itself.
  virtual std::uint8_t uncovered() const { return 0; }

 protected:
  explicit Strategy(Manner m) : manner(m) {}
  ~Strategy() = default;
};

class Run;  // of run.h
Strategy* make_strategy(const abi::Job& job, Run& run);

// A job's parts lie behind the control structure; the host vouches for offsets and sizes.
const std::uint8_t* guide_of(const abi::Job& job);
const char* names_of(const abi::Job& job);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_STRATEGY_H_
