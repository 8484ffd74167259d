#include "runtime/strategy/strategy.h"

#include "clew_abi/control.h"
#include "runtime/arena.h"
#include "runtime/strategy/chaos.h"
#include "runtime/strategy/linger.h"
#include "runtime/strategy/noise.h"
#include "runtime/strategy/none.h"
#include "runtime/strategy/patient.h"
#include "runtime/strategy/pct.h"
#include "runtime/strategy/plan.h"
#include "runtime/strategy/pos.h"
#include "runtime/strategy/prefix.h"
#include "runtime/strategy/random_walk.h"
#include "runtime/strategy/rff.h"
#include "runtime/strategy/round_robin.h"
#include "runtime/strategy/schedule.h"
#include "runtime/strategy/script.h"
#include "runtime/strategy/surw.h"
#include "runtime/strategy/timer.h"

namespace clew::rt {
namespace {

const char* control_memory() { return reinterpret_cast<const char*>(abi::kControlAddress); }

template <class T, class... Arguments>
Strategy* make(Arguments&&... arguments) {
  return new (arena_alloc(sizeof(T))) T(static_cast<Arguments&&>(arguments)...);
}

// Of a strategy whose jobs may say that the program is not to end while others can run.
Strategy* lingering(const abi::Job& job, Strategy* inside) {
  const std::uint64_t steps = job.parameters[abi::kPlanLinger];
  return steps == 0 ? inside : make<Linger>(steps, *inside);
}

}  // namespace

const std::uint8_t* guide_of(const abi::Job& job) {
  return reinterpret_cast<const std::uint8_t*>(control_memory()) + job.guide.offset;
}

const char* names_of(const abi::Job& job) { return control_memory() + job.names.offset; }

Strategy* make_strategy(const abi::Job& job, Run& run) {
  switch (job.strategy) {
    case abi::StrategyKind::kTimer:
      return make<TimerStrategy>(job.seed);
    case abi::StrategyKind::kSchedule: {
      const auto* control = reinterpret_cast<const abi::Control*>(control_memory());
      return make<ScheduleStrategy>(job, run,
                                    control->flags & abi::kFlagReplay
                                        ? ScheduleStrategy::Replay::kFull
                                        : ScheduleStrategy::Replay::kSchedule);
    }
    case abi::StrategyKind::kRandom:
      return lingering(job, make<Patient>(*make<RandomWalk>(job), job));
    case abi::StrategyKind::kPct:
      return lingering(job, make<Patient>(*make<Pct>(job), job));
    case abi::StrategyKind::kPos:
      return lingering(job, make<Patient>(*make<Pos>(job), job));
    case abi::StrategyKind::kSurw:
      return lingering(job, make<Patient>(*make<Surw>(job), job, Patient::Loops::kCountedOnce));
    case abi::StrategyKind::kRff:
      return lingering(job, make<Patient>(*make<Rff>(job), job));
    case abi::StrategyKind::kChaos:
      return make<Chaos>(job);
    case abi::StrategyKind::kPlan:
      return make<Patient>(*make<Plan>(job), job, Patient::Loops::kRunThrough);
    case abi::StrategyKind::kPrefix:
      return make<Prefix>(
          job, *make<Patient>(*make<NoStrategy>(kAtEveryPoint), job, Patient::Loops::kWaitedOut));
    case abi::StrategyKind::kRoundRobin:
      return lingering(job, make<RoundRobin>(job));
    case abi::StrategyKind::kScript:
      return make<Script>(job, run);
    case abi::StrategyKind::kNoise:
      return make<Noise>(job);
    case abi::StrategyKind::kNone:
    case abi::StrategyKind::kCount:
      break;
  }
  return make<NoStrategy>();
}

}  // namespace clew::rt
