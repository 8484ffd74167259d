// Random walk: at every scheduling point each thread that can run is as likely as any other.
//
// The baseline of the papers on randomised scheduling (Thomson, Donaldson, Betts, TOPC 2016, where
// it finds nearly as much as anything else). It favours interleavings in which threads take turns:
// with two threads of k steps the one that runs the first thread to its end has probability 2^-k.
//
// Parameters: kRandomUpdateWeight: the weight, in percent, of a thread that is about to read and
// write in one step (compare-exchange, fetch-add); 0 means 100, the plain walk. With less it
// hesitates there while others run, and what it has read grows old: bugs of lock-free code (ABA)
// need that. On a model of SafeStack 25 fails once in 130,000 walks, the plain walk once in
// 600,000, pos in 250,000.
//
// Guide: none.
#ifndef CLEW_RUNTIME_STRATEGY_RANDOM_WALK_H_
#define CLEW_RUNTIME_STRATEGY_RANDOM_WALK_H_

#include "runtime/strategy/choices.h"

namespace clew::rt {

class RandomWalk final : public ChoosingStrategy {
 public:
  explicit RandomWalk(const abi::Job& job);

  std::uint32_t pick(const Candidates& candidates) override;

 private:
  Random random_;
  std::uint64_t update_weight_;
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_RANDOM_WALK_H_
