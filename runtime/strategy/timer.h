// Preempts after random slices, as an operating system's timer would.
//
// Slice lengths are log-uniform over 1..2^k points, where 2^k grows with the clock up to 2^17:
// short programs are preempted too, and long ones pay little. The entropy of a slice is about
// twelve bits, which keeps recordings under two bytes a switch.
#ifndef CLEW_RUNTIME_STRATEGY_TIMER_H_
#define CLEW_RUNTIME_STRATEGY_TIMER_H_

#include "runtime/strategy/strategy.h"

namespace clew::rt {

class TimerStrategy final : public Strategy {
 public:
  explicit TimerStrategy(std::uint64_t seed) : Strategy(kByClock), random_(seed) {}

  Clock next_decision(Clock now) override { return slice_end_ > now ? slice_end_ : now + 1; }
  Decision preempt(Clock event) override;
  void learn(const Occurrence& occurrence) override;

 private:
  std::uint64_t next_random();
  std::uint64_t next_slice(Clock event);

  std::uint64_t random_;
  Clock slice_end_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_TIMER_H_
