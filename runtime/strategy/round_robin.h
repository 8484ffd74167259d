// Lockstep: after each scheduling point the next thread runs, so that threads that do the same
// do each step at the same time. It is the schedule with the most switches there is, a good first
// one: lost updates of alike threads and cyclic locks show at once.
//
// A new thread waits until its creator waits or ends: started one after the other, threads would
// never be in step. It does not wait for a creator that has taken kPatience steps in a row, which may
// be waiting in a loop.
//
// Threads that retry in step with each other would never get on (two that take locks by turns and
// give them back, for example): the number of points in a row doubles every kDoubleEvery steps.
//
// Parameters: [0] scheduling points in a row for each thread, at least 1.
#ifndef CLEW_RUNTIME_STRATEGY_ROUND_ROBIN_H_
#define CLEW_RUNTIME_STRATEGY_ROUND_ROBIN_H_

#include "runtime/strategy/choices.h"

namespace clew::rt {

class RoundRobin final : public Strategy {
 public:
  explicit RoundRobin(const abi::Job& job) : RoundRobin(job.parameters[abi::kRoundRobinQuantum]) {}
  explicit RoundRobin(std::uint64_t quantum)
      : Strategy(kAtEveryPoint), quantum_(quantum > 0 ? quantum : 1) {}

  std::uint32_t pick(const Candidates& candidates) override {
    return pick_unless(candidates, [](const Candidate&) { return false; });
  }
  // The same, passing over those that are held, unless there are no others.
  template <class IsHeld>
  std::uint32_t pick_unless(const Candidates& candidates, IsHeld is_held) {
    const bool stay = candidates.current_first && !is_held(candidates.list[0]);
    if (stay && run_ < quantum_) return 0;
    for (std::uint32_t i = candidates.current_first ? 1 : 0; i < candidates.count; ++i) {
      if (is_held(candidates.list[i])) continue;
      if (stay && waits_for_creator(candidates.list[i], candidates.list[0])) continue;
      run_ = 0;
      return i;
    }
    return 0;
  }

  void learn(const Occurrence& occurrence) override {
    if (occurrence.kind == Occurrence::Kind::kExecuted) executed();
    if (occurrence.kind == Occurrence::Kind::kCreated)
      parents_.at(occurrence.thread.index) = occurrence.parent;
  }

 private:
  static constexpr std::uint64_t kDoubleEvery = 4096;
  static constexpr std::uint64_t kPatience = 1000;  // chosen, not measured

  void executed() {
    ++run_;
    if (++steps_ % kDoubleEvery == 0) quantum_ *= 2;
  }

  bool waits_for_creator(const Candidate& thread, const Candidate& running) {
    const bool is_new = thread.step.place == 0;  // it is nowhere yet: its step is to start
    return is_new && run_ < kPatience && parents_.at(thread.index) == running.key;
  }

  Table<abi::ThreadKey> parents_;  // by index
  std::uint64_t quantum_;
  std::uint64_t steps_ = 0;
  std::uint64_t run_ = 0;  // points of the running thread since it was switched to
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_ROUND_ROBIN_H_
