// What the scheduler needs of those parts of the runtime that stand on top of it: what comes from
// outside, signals, checkpoints, the ways a run ends. They are one implementation
// (intercept/surroundings.cc), the tests of the scheduler another.
//
// Nothing here is called on a fast path.
#ifndef CLEW_RUNTIME_SCHED_SURROUNDINGS_H_
#define CLEW_RUNTIME_SCHED_SURROUNDINGS_H_

#include "runtime/sched/fiber.h"
#include "runtime/strategy/strategy.h"

namespace clew::rt {

class Surroundings {
 public:
  // --- a job
  // Makes the list of those who listen (g_listeners), for a strategy of this manner.
  virtual void tune_in(const abi::Job& job, const Manner& manner) = 0;
  // A choice is about to be asked for: a job begins before its first at the latest.
  virtual void before_choice() {}
  // The run stops before this event; returns in each process that resumes from here.
  virtual void stop_at_checkpoint() = 0;
  // What every thread does before `event`, for a query.
  virtual void report_stacks(Clock event) = 0;

  // --- what comes from outside
  // Scheduler::poll_at is due.
  virtual void poll(Clock event) = 0;
  // If anything may come: looks without waiting.
  virtual void poll_if_expected() = 0;
  virtual void poll_while_stuck() = 0;
  enum class Came : std::uint8_t {
    kSomething,  // a thread may be able to run now
    kNothing,    // until `due`: time may pass
    kNever,      // only this program could bring it
  };
  // Nobody can run, and the next timer is due then (kForever: there is none).
  virtual Came wait_for_something(Nanos due) = 0;
  // A wait for something from outside whose thread leaves without returning through it.
  virtual void forget(Wait& wait) = 0;
  // Whether this process is a copy of the program, which others may share memory with.
  virtual bool is_copy() const = 0;
  // The clock after a jump out of a handler: the recorded one in a replay.
  virtual Clock clock_of_jump(Clock clock) = 0;

  // --- threads
  // Runs the handlers of all signals that the running thread does not block.
  virtual Attended attend(Fiber& self, unsigned ended_by) = 0;
  // Gives a finished thread's stack and thread-local storage back to libc.
  virtual void give_back(Fiber& fiber) = 0;
  // For the debugger: the thread is parked, new or finished.
  virtual void parked(const Fiber& fiber) = 0;

  // --- ends of the run
  virtual void note(const char* line) = 0;
  [[noreturn]] virtual void end_at_budget() = 0;
  [[noreturn]] virtual void end_stuck() = 0;  // nobody will ever run
  [[noreturn]] virtual void end_spinning() = 0;
  [[noreturn]] virtual void end_departed(Clock event, std::uint64_t thread, abi::Place place,
                                         const char* what) = 0;

 protected:
  ~Surroundings() = default;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_SURROUNDINGS_H_
