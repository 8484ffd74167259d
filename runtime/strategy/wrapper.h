// A strategy around another one, which it asks and may overrule: noise, constraints ("hold this
// thread until that write"), a prefix of given steps. What a wrapper does not override goes to the
// strategy inside.
//
// A wrapper is told everything that the strategy inside is told: one that overrides learn() hands
// it on. The manner is that of the strategy inside, unless the wrapper needs another.
#ifndef CLEW_RUNTIME_STRATEGY_WRAPPER_H_
#define CLEW_RUNTIME_STRATEGY_WRAPPER_H_

#include "runtime/strategy/strategy.h"

namespace clew::rt {

class Wrapper : public Strategy {
 public:
  Clock next_decision(Clock now) override { return inside_.next_decision(now); }
  Decision preempt(Clock event) override { return inside_.preempt(event); }
  std::uint32_t pick(const Candidates& candidates) override { return inside_.pick(candidates); }
  Choice choose(const Question& question) override { return inside_.choose(question); }
  void learn(const Occurrence& occurrence) override { inside_.learn(occurrence); }
  bool left_over(Clock clock, char* reason, std::size_t size) override {
    return inside_.left_over(clock, reason, size);
  }
  std::uint8_t loops() const override { return inside_.loops(); }
  std::uint8_t uncovered() const override { return inside_.uncovered(); }

 protected:
  explicit Wrapper(Strategy& inside) : Wrapper(inside, inside.manner) {}
  Wrapper(Strategy& inside, Manner m) : Strategy(m), inside_(inside) {}
  ~Wrapper() = default;

  Strategy& inside_;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_WRAPPER_H_
