// POS: Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV 2018, section 3.
//
// Every thread's pending step has a random priority and the highest runs. Then the thread's next
// step gets a fresh priority, and so do the pending steps of others that conflict with the one
// executed. Steps that conflict with nothing keep their priority, so that no randomness is spent on
// orders that do not matter.
//
// Parameters: kRandomUpdateWeight: if it is below 100, and not 0, threads gather. Updates (atomic
// read-modify-writes) are drawn lower priorities, that many percent of uniform ones, so that threads
// come together before them: what breaks lock-free code is an update by one that has read what others
// have changed since. And a thread does not start while the one that created it can run, so that
// all take part, but for no more than kPatience steps after the last creation: the creator may wait
// in a loop.
//
// Guide: none.
//
// Deviation: a thread's pending step may change without its being executed (a wait that has been
// interrupted, say); it counts as a new one.
#ifndef CLEW_RUNTIME_STRATEGY_POS_H_
#define CLEW_RUNTIME_STRATEGY_POS_H_

#include "runtime/strategy/choices.h"

namespace clew::rt {

class Pos final : public ChoosingStrategy {
 public:
  static constexpr std::uint32_t kPatience = 1000;

  explicit Pos(const abi::Job& job);

  std::uint32_t pick(const Candidates& candidates) override;
  void learn(const Occurrence& occurrence) override;

  // Of the thread's pending step; 0 is never an answer. For strategies that refine this one (rff).
  std::uint64_t priority(const Candidate& thread);

 private:
  void executed(const Candidate& thread);
  bool waits_for_creator(const Candidate& thread, const Candidates& candidates);
  void finished(const Candidate& thread);

  struct Thread {
    Step step;
    std::uint64_t priority = 0;      // 0: to be drawn
    std::uint32_t living_place = 0;  // place in living_ + 1; 0: not there
    abi::ThreadKey creator = 0;
  };

  Random random_;
  std::uint64_t update_weight_;
  bool gathers_;
  std::uint32_t since_creation_ = 0;  // steps
  Table<Thread> threads_;
  // Those seen and not ended, in no particular order: what executed() has to look through.
  Table<std::uint32_t> living_;
  std::uint32_t living_count_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_POS_H_
