// Runs that show more of a program, for searches that have no better idea: every schedule in turn
// (ExhaustiveSearch without a bound), and samples of all schedules in between, for programs of which
// the former comes to no end. If it does come to an end, nothing is left to be seen.
#ifndef CLEW_HOST_ENUMERATE_WANDER_H_
#define CLEW_HOST_ENUMERATE_WANDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "host/search/exhaustive.h"
#include "host/search/search.h"

namespace clew {

// A job that follows these threads, step by step, and then preempts nothing. Sleeps are over at
// once: how long a thread sleeps is a matter of the schedule.
[[nodiscard]] JobPlan following(const std::vector<std::uint32_t>& prefix);

class Wander {
 public:
  explicit Wander(std::uint64_t seed);

  // Empty: every schedule was executed.
  [[nodiscard]] std::vector<JobPlan> next(std::size_t most);
  // Whether it is one of those that execute every schedule, and not a sample.
  [[nodiscard]] bool is_systematic(const JobPlan& plan) const {
    return plan.strategy == abi::StrategyKind::kPrefix && every_.waits_for(plan);
  }
  void learn(const JobPlan& plan, const JobReport& report);

  // Every schedule was executed, up to equivalence, but for what untried() says.
  [[nodiscard]] bool exhausted() const { return every_.all_executed(); }
  [[nodiscard]] std::string untried() const { return every_.untried(); }
  // The sampling alone is left.
  [[nodiscard]] bool only_samples() const { return every_.gave_up(); }

 private:
  [[nodiscard]] JobPlan sample();

  ExhaustiveSearch every_;
  std::uint64_t seed_;
  std::uint64_t proposed_ = 0;
  std::uint64_t sampled_ = 0;
};

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_WANDER_H_
