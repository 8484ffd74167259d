// Plan: follows a list of directives, then preempts nothing. What directed searches use to put a
// preemption where they want it, and to hold a thread there while others run.
//
// A directive is "run this thread until ...". While it is in force its thread runs whenever it
// can. If it cannot (it is blocked, or does not exist yet) the plan goes to the next directive,
// or, if the directive insists, the default runs and the directive stays. A directive whose
// thread has ended is dropped.
//
//   stop      until the thread ...
//   kSteps    has executed n scheduling points
//   kBefore   is about to execute a step at `place` for the n-th time within this directive
//   kAfter    has executed a step at `place` for the n-th time within this directive
//   kEnd      ends or blocks; with kPlanInsist: ends
//
//   flag         meaning
//   kPlanInsist  see above
//   kPlanWatch   the thread is not preferred: the default runs until the thread reaches the stop
//                (kBefore only)
//   kPlanHold    once the stop is reached (not if the directive is given up), the thread does not
//                run while any other can. A later directive that names it, or its being the only
//                one that can run, releases it.
//
// Thread key 0 is the thread that is the default when the directive comes into force. n = 0
// means 1.
//
// The default is the running thread if it can continue, or lockstep (round_robin.h).
//
// Parameters:
//   kPlanLongestHold  a hold lasts for at most this many steps of others, 0: without limit (a
//                     program in which others wait in loops for the thread held needs one)
//   kPlanLockstep     if not 0, the default is lockstep with this quantum
//   kPlanLinger       the default does not end the program while others can run, for at most this
//                     many of their steps
//   kChoiceSeed       if not 0, seed of the answers to choose(), which are otherwise the defaults
// Guide: abi::PlanDirective for each directive. With a bad guide, or none: no preemptions.
#ifndef CLEW_RUNTIME_STRATEGY_PLAN_H_
#define CLEW_RUNTIME_STRATEGY_PLAN_H_

#include "runtime/strategy/choices.h"
#include "runtime/strategy/round_robin.h"

namespace clew::rt {

class Plan final : public ChoosingStrategy {
 public:
  using Stop = abi::PlanStop;

  explicit Plan(const abi::Job& job);

  std::uint32_t pick(const Candidates& candidates) override;
  void learn(const Occurrence& occurrence) override;

 private:
  struct Directive {
    abi::ThreadKey key;  // 0 until it is known who is the default
    abi::Place place;
    std::uint64_t times;
    Stop stop;
    std::uint8_t flags;
    bool dropped;  // its thread has ended
  };
  struct Held {
    abi::ThreadKey key;
    std::uint64_t since;  // steps_
  };
  enum class Left : std::uint8_t { kStopReached, kGivenUp };

  void executed(const Candidate& thread);
  void finished(const Candidate& thread);
  bool read_guide(const abi::Job& job);
  Directive* in_force();
  void leave(Left left);
  bool stands_at_stop(const Directive& directive, const Step& step) const;
  // The first that is not held; if all are, the first, which is released.
  std::uint32_t default_of(const Candidates& candidates);
  std::uint32_t released(const Candidates& candidates, std::uint32_t at);
  // Whether the thread is about to end the program, and that can wait.
  bool lingers(const Candidate& thread);
  bool is_held(abi::ThreadKey key);
  void release(abi::ThreadKey key);

  RoundRobin lockstep_;
  bool in_lockstep_;
  std::uint64_t longest_hold_;
  std::uint64_t linger_;
  bool is_lingering_ = false;   // somebody would have ended the program
  std::uint64_t lingered_ = 0;  // steps since
  Table<bool> started_;         // by index
  Directive* directives_ = nullptr;
  std::uint32_t directives_count_ = 0;
  std::uint32_t next_ = 0;    // the one in force
  std::uint64_t passed_ = 0;  // its steps, or those at its place, that have been executed

  Table<Held> held_;
  std::uint32_t held_count_ = 0;
  std::uint64_t steps_ = 0;
  bool asked_ = false;  // since the last step
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_PLAN_H_
