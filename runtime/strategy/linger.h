// Linger: the program does not end while other threads can run. A main thread that returns without
// joining its threads ends them wherever they are, in most schedules soon after they were created:
// what they could still have done is hardly ever seen.
//
// The thread that is about to end the program is kept from the strategy inside as long as it has
// others to choose from, for at most a given number of their steps.
//
// Parameters: kPlanLinger: that number; make_strategy() wraps a strategy if it is not 0.
// Guide: that of the strategy inside.
#ifndef CLEW_RUNTIME_STRATEGY_LINGER_H_
#define CLEW_RUNTIME_STRATEGY_LINGER_H_

#include "runtime/strategy/choices.h"
#include "runtime/strategy/wrapper.h"

namespace clew::rt {

class Linger final : public Wrapper {
 public:
  // REQUIRES: `inside` decides at every point.
  Linger(std::uint64_t most_steps, Strategy& inside) : Wrapper(inside), most_steps_(most_steps) {}

  std::uint32_t pick(const Candidates& candidates) override {
    std::uint32_t ending = 0;
    while (ending < candidates.count && !ends_program(candidates.list[ending])) ++ending;
    if (CLEW_LIKELY(ending == candidates.count)) return inside_.pick(candidates);
    if (candidates.count == 1 || steps_ >= most_steps_) return inside_.pick(candidates);
    is_lingering_ = true;
    return pick_without(candidates, ending);
  }

  void learn(const Occurrence& occurrence) override {
    if (occurrence.kind == Occurrence::Kind::kSwitched) started_.at(occurrence.thread.index) = true;
    if (occurrence.kind == Occurrence::Kind::kExecuted && is_lingering_) ++steps_;
    Wrapper::learn(occurrence);
  }

 private:
  // A step without a place is to start, or to end the program.
  bool ends_program(const Candidate& thread) {
    return thread.step.place == 0 && started_.at(thread.index);
  }

  std::uint32_t pick_without(const Candidates& candidates, std::uint32_t left_out) {
    for (std::uint32_t i = 0, to = 0; i < candidates.count; ++i)
      if (i != left_out) others_.at(to++) = candidates.list[i];
    const bool current_first = candidates.current_first && left_out != 0;
    const std::uint32_t at = inside_.pick({&others_.at(0), candidates.count - 1, current_first});
    return at < left_out ? at : at + 1;
  }

  std::uint64_t most_steps_;
  std::uint64_t steps_ = 0;  // of others, since the program would have ended
  bool is_lingering_ = false;
  Table<bool> started_;  // by index
  Table<Candidate> others_;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_LINGER_H_
