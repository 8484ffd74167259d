// Hunting: running a program under many schedules until one fails.
#ifndef CLEW_HOST_SEARCH_HUNT_H_
#define CLEW_HOST_SEARCH_HUNT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/outcome.h"
#include "host/recording/recording.h"
#include "host/search/criteria.h"
#include "host/search/hunt_input.h"
#include "host/search/hunt_result.h"
#include "host/search/search.h"
#include "host/target/job_runner.h"
#include "host/target/launch_plan.h"

namespace clew {

inline constexpr std::uint32_t kAllChoices =
    (1u << static_cast<unsigned>(abi::ChoiceKind::kCount)) - 1;

struct HuntOptions {
  LaunchPlan plan;  // what to run; strategy, seed and output are the hunt's
  std::string strategy = "portfolio";
  std::uint64_t seed = 1;
  std::uint64_t schedules = 0;  // at most; 0: no limit
  double seconds = 0;           // at most; 0: no limit
  unsigned jobs = 0;            // workers; 0: as many as there are cores
  bool keep_going = false;
  std::uint32_t choices = kAllChoices;  // bits 1 << abi::ChoiceKind
  std::uint32_t depth = 3;              // pct
  std::uint32_t bound = 2;              // exhaustive: preemptions
  std::optional<std::string> from;      // fuzz: the recording or schedule to start from; from a
                                        // failing recording it looks for a passing schedule
  double sigma = 0.5;                   // fuzz: about how far switches are moved at first
  bool in_place = true;                 // false: a new process for every schedule
  bool clock_speed_is_given = false;  // the plan's, instead of one that follows from the first run
  bool budget_is_guess = false;       // a hang must hold with many times the plan's budget
  bool keep_passing = true;           // look for a passing schedule close to the failing one
  bool keep_failing = true;           // record each different failure; else they are only counted
  std::function<bool()> enough = {};  // asked between rounds: nothing more is wanted
  // Makes the search of the strategy "enumerate", which is of a later folder (host/enumerate).
  std::function<std::unique_ptr<Search>(std::uint64_t seed)> enumerate = {};
  Criteria criteria;
  RunnerFactory runner = {};  // who runs the jobs; empty: this machine
};

class HuntObserver {
 public:
  virtual ~HuntObserver() = default;
  // Several times a second.
  virtual void status(const HuntStatus& status) = 0;
  // A failure that was not seen before, just recorded.
  virtual void found(const FoundFailure& failure) = 0;
};

// `listeners` are told every job of the hunt and what became of it, in the order of the proposals,
// each after the search: the same for the same seed, whoever runs the jobs.
// Errors are faults of the set-up or of the machine. A program that never fails is a result.
[[nodiscard]] Result<HuntResult> hunt(const HuntOptions& options, RecordingStore& store,
                                      HuntObserver& observer,
                                      std::span<ReportListener* const> listeners = {});

// The same with a search of the caller's, whatever options.strategy says. The standard input is given
// because it can be read only once.
[[nodiscard]] Result<HuntResult> hunt_with(std::unique_ptr<Search> search,
                                           const HuntOptions& options, RecordingStore& store,
                                           HuntObserver& observer, HuntInput input);

// The child processes that create threads, by the number of their fork from 1, if the program itself
// creates none. Runs the program once.
[[nodiscard]] Result<std::vector<std::uint32_t>> children_with_threads(const HuntOptions& options,
                                                                       RecordingStore& store,
                                                                       HuntObserver& observer);

// The names that `strategy` takes, the default first.
[[nodiscard]] const std::vector<std::string>& strategy_names();

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_HUNT_H_
