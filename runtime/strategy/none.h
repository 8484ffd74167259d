// Never preempts. (The scheduler still preempts a thread that spins for a whole fair slice.)
#ifndef CLEW_RUNTIME_STRATEGY_NONE_H_
#define CLEW_RUNTIME_STRATEGY_NONE_H_

#include "runtime/strategy/strategy.h"

namespace clew::rt {

class NoStrategy final : public Strategy {
 public:
  explicit NoStrategy(Manner m = kByClock) : Strategy(m) {}
};

}  // namespace clew::rt

#endif  // CLEW_RUNTIME_STRATEGY_NONE_H_
