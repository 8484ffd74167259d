// Chaos: after rr's chaos mode (O'Callahan, "Introducing rr Chaos Mode", 2016, and its later
// high-priority-only intervals). By the clock: it costs nothing between its decisions.
//
//  - Some threads have low priority: each with probability 1/10, the main thread with 3/10, drawn
//    anew now and then. Who runs when the running thread cannot is drawn among those
//    of high priority, if there are any.
//  - A tenth of the slices is very short, a tenth short, the rest up to kLongSlice.
//  - For a fifth of the time no slice ends, in intervals of a length D out of 2^6..2^17, one every
//    5 D: a thread that is ready is starved for D. Which D is needed depends on the bug, so
//    it is drawn anew now and then.
//
// Parameters: none. Guide: none.
//
// Deviations: rr sees who is ready when a slice ends; a strategy by the clock does not. So
//  - at the end of a slice the queue is turned by a random number of places, whatever the
//    priorities;
//  - in a starving interval the thread that runs keeps running until it blocks, instead of all
//    those of high priority taking turns, and if only threads of low priority are left they run.
// rr's constants are times. Here they are numbers of events, and they grow with the clock: programs
// under test are often shorter than one slice of rr's.
#ifndef CLEW_RUNTIME_STRATEGY_CHAOS_H_
#define CLEW_RUNTIME_STRATEGY_CHAOS_H_

#include "runtime/strategy/choices.h"

namespace clew::rt {

class Chaos final : public ChoosingStrategy {
 public:
  static constexpr Clock kVeryShortSlice = 100;
  static constexpr Clock kShortSlice = 10'000;
  static constexpr Clock kLongSlice = 1u << 17;

  explicit Chaos(const abi::Job& job);

  Clock next_decision(Clock now) override { return slice_end_ > now ? slice_end_ : now + 1; }
  Decision preempt(Clock event) override;
  std::uint32_t pick(const Candidates& candidates) override;
  void learn(const Occurrence& occurrence) override;

 private:
  struct Thread {
    std::uint64_t drawn_in = 0;  // the era_ in which low_priority was drawn
    bool low_priority = false;
  };

  Clock next_slice(Clock event);
  // Draws what it is time to draw anew.
  void refresh(Clock event);
  // The end of the starving interval that `event` is in, or 0.
  Clock starves_until(Clock event) const;
  bool low_priority(std::uint32_t index);

  Random random_;
  Clock slice_end_ = 0;
  Clock turning_at_ = 0;     // the event at which the queue is being turned
  std::uint32_t turns_ = 0;  // still to make

  Table<Thread> threads_;
  std::uint64_t era_ = 0;  // of priorities
  Clock era_end_ = 0;

  Clock starving_length_ = 1;
  Clock starving_start_ = 0;  // of the first interval; then every five lengths
  Clock starving_end_ = 0;    // when another length is drawn
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_CHAOS_H_
