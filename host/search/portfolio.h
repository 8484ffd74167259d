// The default: several searches share the budget. No single one wins everywhere (docs/hunt.md has
// the figures): directed preemptions find shallow bugs within a handful of schedules, whatever the
// number of threads; sampling finds the deep ones that nothing observed points at.
//
// The first schedule is lockstep: it has the most switches there are, and shows what the threads
// do. Then the directed targets alternate with sampling, one schedule has no preemptions at all,
// and when they are used up each search gets a share by what it still brings: interleavings not
// seen before, and failures of new kinds (a bandit with a floor, so that none is given up).
#ifndef CLEW_HOST_SEARCH_PORTFOLIO_H_
#define CLEW_HOST_SEARCH_PORTFOLIO_H_

#include <deque>
#include <memory>

#include "host/search/sampling.h"
#include "host/search/search.h"
#include "host/search/target_search.h"

namespace clew {

class PortfolioSearch final : public Search {
 public:
  explicit PortfolioSearch(std::uint64_t seed);

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override;

 private:
  struct Arm {
    std::unique_ptr<Search> search;
    double reward = 1;  // decayed sum over its jobs
    double jobs = 1;
  };
  static constexpr std::size_t kOpening = SIZE_MAX;

  [[nodiscard]] std::optional<JobPlan> opening();
  [[nodiscard]] std::size_t draw_arm();
  [[nodiscard]] std::optional<JobPlan> from_arm(std::size_t arm);

  Random random_;
  TargetSearch target_;
  std::vector<Arm> arms_;
  std::uint64_t proposed_ = 0;
  std::deque<std::size_t> pending_;  // whose jobs are under way
  std::size_t latest_ = kOpening;
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_PORTFOLIO_H_
