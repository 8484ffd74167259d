// Prefix: the first steps are by given threads, then the strategy inside decides; make_strategy()
// puts one there that preempts nothing. What a systematic search (stateless exploration) replays
// and extends.
//
// Parameters:
//   kPrefixShortSleeps  if not 0, a sleep is over as soon as it begins (Manner::short_sleeps)
//   kChoiceSeed         if not 0, seed of the answers to choose(), which are otherwise the defaults
//
// Guide: the index of the thread of each step.
//
// The k-th step executed is by the k-th thread given. If that thread cannot run there, the
// default does, and it counts as that step. With a bad guide, or none: no prefix.
#ifndef CLEW_RUNTIME_STRATEGY_PREFIX_H_
#define CLEW_RUNTIME_STRATEGY_PREFIX_H_

#include "runtime/strategy/choices.h"
#include "runtime/strategy/wrapper.h"

namespace clew::rt {

class Prefix final : public Wrapper {
 public:
  Prefix(const abi::Job& job, Strategy& inside);

  std::uint32_t pick(const Candidates& candidates) override;
  Choice choose(const Question& question) override { return choices_.answer(question); }
  void learn(const Occurrence& occurrence) override {
    if (occurrence.kind == Occurrence::Kind::kExecuted) ++steps_;
    Wrapper::learn(occurrence);
  }

 private:
  bool read_guide(const abi::Job& job);

  ChoicePolicy choices_;
  std::uint32_t* threads_ = nullptr;  // by step
  std::uint64_t length_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_PREFIX_H_
