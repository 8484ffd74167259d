// Prefix: the first steps are by given threads, then nothing is preempted. What a systematic search
// (stateless exploration) replays and extends.
//
// Parameters: [0] bit 0: after the prefix always the default. It is the only way to go on that
// there is so far, so the bit changes nothing; [3] if not 0, seed of the answers to choose(), which
// are otherwise the defaults.
//
// Guide: varint number of steps, for each: varint index of its thread (order of creation).
//
// The k-th step executed is by the k-th thread given. If that thread cannot run there, the default
// goes on, and the steps after it count on. With a bad guide, or none: no preemptions.
#ifndef CLEW_RUNTIME_STRATEGY_PREFIX_H_
#define CLEW_RUNTIME_STRATEGY_PREFIX_H_

#include "runtime/strategy/choices.h"

namespace clew::rt {

class Prefix final : public Strategy {
 public:
  explicit Prefix(const abi::Job& job);

  bool at_every_point() const override { return true; }
  std::uint32_t pick(const Candidates& candidates) override;
  void executed(const Candidate&) override { ++steps_; }
  std::uint32_t choose(abi::ChoiceKind kind, std::uint32_t count) override;

 private:
  bool read_guide(const abi::Job& job);

  ChoicePolicy choices_;
  std::uint32_t* threads_ = nullptr;  // by step
  std::uint64_t length_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_PREFIX_H_
