// Asks the strategy: who runs at a scheduling point, and the choices beyond switches. Knows which
// of its answers are wanted, gathers the candidates and numbers the questions.
#ifndef CLEW_RUNTIME_SCHED_DECIDER_H_
#define CLEW_RUNTIME_SCHED_DECIDER_H_

#include "runtime/sched/run_queue.h"
#include "runtime/strategy/strategy.h"

namespace clew::rt {

// A thread as strategies see it. One that is disturbed attends to that first.
inline Candidate candidate_of(const Fiber& fiber) {
  return {fiber.key, fiber.index, fiber.disturbed ? Step{} : fiber.reached.step};
}

class Decider {
 public:
  // `choices`: bits 1 << abi::ChoiceKind that may be answered in other than the default way.
  void begin(Strategy& strategy, std::uint32_t choices);
  // From now on nobody is asked but by the clock. A strategy may keep threads from progressing for
  // ever where a fair scheduler would not: retries in step with each other, a spinning thread that
  // is always preferred. A run that takes very long continues without one, so that only what hangs
  // under a fair scheduler counts as a hang.
  void stop();

  Strategy& strategy() const { return *strategy_; }
  bool at_every_point() const { return at_every_point_; }
  bool picks() const { return picks_; }
  bool follows() const { return strategy_->manner.follows; }
  bool asks(abi::ChoiceKind kind) const { return (choices_ & bit(kind)) != 0; }

  void tell(Occurrence::Kind kind, const Fiber& fiber, abi::ThreadKey parent = 0, Clock event = 0) {
    strategy_->learn({kind, candidate_of(fiber), parent, event});
  }

  // The threads that can run, `running` first if it is one of them; null: it is blocked. Valid
  // until the next call. REQUIRES: no more than `most` in all.
  Candidates gather(Fiber* running, const RunQueue& queue, std::uint32_t most);
  // Of the newest gather(): bit i is set if the thread with index i could run, i < 64.
  std::uint64_t enabled() const { return enabled_; }
  // The strategy's answer for the newest gather().
  Fiber* pick(const Candidates& candidates);

  // The running thread passes the scheduling point that it stands before, and gather() is not needed.
  bool continues(const Fiber& running);

  // The number of a question before `event`. Questions are numbered whether or not anybody is
  // asked, so that an answer means the same in a replay.
  std::uint32_t next_ordinal(Clock event);

  // Kinds of questions that have arisen.
  void note_arisen(abi::ChoiceKind kind) { arisen_ |= static_cast<std::uint8_t>(bit(kind)); }
  std::uint8_t arisen() const { return arisen_; }

 private:
  static constexpr std::uint32_t bit(abi::ChoiceKind kind) {
    return 1u << static_cast<unsigned>(kind);
  }
  void add(Fiber* fiber);

  Strategy* strategy_ = nullptr;
  bool at_every_point_ = false;
  bool picks_ = false;
  std::uint32_t choices_ = 0;
  std::uint8_t arisen_ = 0;
  Clock ordinal_event_ = 0;  // of the newest question
  std::uint32_t ordinal_ = 0;
  Candidate* candidates_ = nullptr;
  Fiber** fibers_ = nullptr;  // of the candidates
  std::uint32_t count_ = 0;
  std::uint32_t room_ = 0;
  std::uint64_t enabled_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_SCHED_DECIDER_H_
