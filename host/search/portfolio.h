// The default: several searches share the budget. No single one wins everywhere (docs/hunt.md has
// the figures, and how the shares were found): systematic searches (directed preemptions, period,
// all schedules with few preemptions) find shallow bugs within a few dozen schedules or not at all;
// sampling needs about as long at any time, and finds the deep ones.
//
// Turns. The first few dozen are in a fixed order: a random walk, then lockstep, which has the most
// switches there are and shows what the threads do, then directed preemptions and sampling.
// Then each search has a share, and turns are taken so that after any number of schedules each has
// had its share of them, to within one. The most is for the sampling that does best on most
// programs, the more so when the systematic ones have had some hundred turns. In the long run that
// one has had its chance, and those have more that are better at what it misses.
// The order of the turns is the same for every seed; the seed decides what is done in them.
//
// What runs tell:
//  - A search whose runs cost many times those of others (threads that wait in loops for one that is
//    held) gets fewer turns; so does a systematic one that brings nothing new any more.
//  - Of a long program, whose sampled runs are decided on at a part of their points only
//    (runtime/sched/coasting.h), the searches that decide at every point get turns in inverse
//    proportion to what theirs cost, and there are no fixed first turns. No traces are asked for that
//    would not fit.
//  - A program that ends while threads could still run does not in most of the sampled schedules
//    (runtime/strategy/linger.h).
//  - A program that asks questions beside who runs (time-outs and the like) gets random answers
//    in half of the directed schedules.
//  - What a run at all points did in the order of conflicting steps is told to period, which leaves
//    out what is equivalent, and takes the run without preemptions of the exhaustive search for its
//    own. The first rounds are small, so that what was learnt by then is used.
//  - Programs without atomic updates get none of the walks that hesitate before those.
//  - Long programs are not searched exhaustively: every access is decided on there.
#ifndef CLEW_HOST_SEARCH_PORTFOLIO_H_
#define CLEW_HOST_SEARCH_PORTFOLIO_H_

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "host/search/period_search.h"
#include "host/search/sampling.h"
#include "host/search/search.h"
#include "host/search/surw_search.h"
#include "host/search/target_search.h"

namespace clew {

class PortfolioSearch final : public Search {
 public:
  explicit PortfolioSearch(std::uint64_t seed);

  [[nodiscard]] std::vector<JobPlan> next(std::size_t most) override;
  void learn(const JobPlan& plan, const JobReport& report) override;
  [[nodiscard]] std::string using_now() const override;

 private:
  enum Phase : std::uint8_t { kEarly, kMain, kLong, kPhases };
  using Shares = std::array<double, kPhases>;
  struct Arm {
    std::unique_ptr<Search> search;
    Shares shares;
    double credit = 0;
    double cost = 0;  // of its runs, a mean of the last few; 0: none yet
    std::uint64_t runs = 0;
    double news = 1;  // of a systematic search: the part of its runs that was new, lately
    bool over = false;
  };

  void add(std::unique_ptr<Search> search, Shares shares);
  [[nodiscard]] Phase phase() const;
  [[nodiscard]] double share(const Arm& arm) const;
  [[nodiscard]] double expected_cost(const Arm& arm) const;
  [[nodiscard]] bool is_long() const;
  [[nodiscard]] std::optional<std::size_t> whose_turn();
  [[nodiscard]] std::vector<JobPlan> take_turns(const std::vector<std::size_t>& turns);
  void adapt(JobPlan& plan);
  void share_news(std::size_t arm, const JobPlan& plan, const JobReport& report);
  void tell_period(std::size_t arm, const JobPlan& plan, const JobReport& report);
  void keep_account(std::size_t arm, const JobPlan& plan, const JobReport& report);

  Random random_;
  std::vector<Arm> arms_;
  TargetSearch* target_;
  PeriodSearch* period_;
  SurwSearch* surw_;
  std::size_t opening_ = 0;  // turns of it
  std::uint64_t proposed_ = 0;
  std::deque<std::size_t> pending_;  // whose jobs are under way
  std::size_t latest_ = 0;
  double least_cost_ = 0;                  // of all arms
  double cost_of_all_points_ = 0;          // of a long run
  bool traces_overflow_ = false;           // there is no room for that of a long run
  std::vector<JobReport> before_default_;  // runs at all points before the default schedule's
  bool default_seen_ = false;
  bool ends_early_ = false;
  bool has_questions_ = false;
  bool has_updates_ = false;  // atomic read-modify-writes
};

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_PORTFOLIO_H_
