// The search behind force(): runs until one meets all constraints, or it is clear that none can.
#ifndef CLEW_HOST_ENUMERATE_FORCE_SEARCH_H_
#define CLEW_HOST_ENUMERATE_FORCE_SEARCH_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "host/enumerate/constraint.h"
#include "host/enumerate/force.h"
#include "host/enumerate/must_order.h"
#include "host/enumerate/rearrangement.h"
#include "host/enumerate/wander.h"
#include "host/search/search.h"

namespace clew {

class ForceSearch {
 public:
  ForceSearch(std::vector<Constraint> constraints, std::uint64_t seed, std::uint64_t for_both);

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most);
  void learn(const JobPlan& plan, const JobReport& report);
  [[nodiscard]] std::vector<Search::Keep> to_keep() const;
  void kept(std::size_t which, std::optional<std::uint64_t> recording);

  // For the hunt. REQUIRES: this outlives it.
  [[nodiscard]] std::unique_ptr<Search> search();
  // What is known by now: answer, reason and the runs that meet the constraints.
  [[nodiscard]] ForceResult result() const;

 private:
  // What the runs say about a constraint.
  struct Known {
    bool first_executed = false;
    bool second_executed = false;
    bool may_be = false;  // some run has both events, and nothing in it orders them
    OrderReason reason;   // otherwise, of the first run with both
  };
  struct Met {
    JobPlan plan;
    ForcedRun run;
  };

  void learn_order(const Constraint& constraint, Known& known, const Trace& trace,
                   const MustOrder& order, std::vector<Aim>& aims);
  void propose_from(const Trace& trace);
  [[nodiscard]] bool hopeless() const;

  std::vector<Constraint> constraints_;
  std::vector<Known> known_;
  std::uint64_t for_both_;
  Wander wander_;
  std::deque<JobPlan> directed_;
  std::set<std::vector<std::uint8_t>> proposed_;  // guides
  std::uint64_t runs_ = 0;
  std::uint64_t studied_ = 0;
  std::uint64_t met_at_ = 0;  // the run that was the first to meet them; 0: none
  std::optional<Met> failing_;
  std::optional<Met> passing_;
};

}  // namespace clew

#endif  // CLEW_HOST_ENUMERATE_FORCE_SEARCH_H_
