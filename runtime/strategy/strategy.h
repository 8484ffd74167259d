// Who runs next, as far as that is a choice. A strategy is a pure decider: it sees the
// clock and answers; the scheduler does the rest.
//
// To add one: a class here-abouts, a StrategyKind in abi/control.h, a line in make_strategy().
#ifndef CLEW_RUNTIME_STRATEGY_STRATEGY_H_
#define CLEW_RUNTIME_STRATEGY_STRATEGY_H_

#include "clew_abi/control.h"
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

class Strategy {
 public:
  // The first event after `now` at which decide() wants to be asked; kNever: at none.
  virtual Clock next_decision(Clock now) = 0;
  // The running thread is about to execute `event`. Called again for the same event, with
  // whatever thread then runs, until the answer is kStay.
  virtual Decision decide(Clock event) = 0;
  // A thread begins to run; `event` will be its first.
  virtual void on_switch(Clock event) { (void)event; }
  // The run has ended in order after `clock` events. Whether part of the schedule was left over, and
  // then why, in `reason`.
  virtual bool left_over(Clock clock, char* reason, std::size_t size) {
    (void)clock, (void)reason, (void)size;
    return false;
  }

 protected:
  ~Strategy() = default;
};

Strategy* make_strategy(const abi::Control& control);

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_STRATEGY_H_
