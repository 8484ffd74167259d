#include "runtime/strategy/strategy.h"

#include "runtime/arena.h"
#include "runtime/strategy/none.h"
#include "runtime/strategy/schedule.h"
#include "runtime/strategy/timer.h"

namespace clew::rt {

Strategy* make_strategy(const abi::Control& control) {
  switch (control.strategy) {
    case abi::StrategyKind::kTimer:
      return new (arena_alloc(sizeof(TimerStrategy))) TimerStrategy(control.seed);
    case abi::StrategyKind::kSchedule:
      return new (arena_alloc(sizeof(ScheduleStrategy))) ScheduleStrategy(control);
    case abi::StrategyKind::kNone:
      break;
  }
  return new (arena_alloc(sizeof(NoStrategy))) NoStrategy();
}

}  // namespace clew::rt
