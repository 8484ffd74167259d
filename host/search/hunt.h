// Hunting: running a program under many schedules until one fails.
#ifndef CLEW_HOST_SEARCH_HUNT_H_
#define CLEW_HOST_SEARCH_HUNT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/outcome.h"
#include "host/recording/recording.h"
#include "host/search/criteria.h"
#include "host/target/launch_plan.h"

namespace clew {

inline constexpr std::uint32_t kAllChoices =
    (1u << static_cast<unsigned>(abi::ChoiceKind::kCount)) - 1;

// Beyond, interleavings are not told apart any more: hunting for hours must not take ever more
// memory.
inline constexpr std::size_t kMostInterleavings = std::size_t{1} << 18;

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
                                        // failing recording a passing schedule is looked for
  double sigma = 0.5;                   // fuzz: how far switches are moved to begin with, about
  bool in_place = true;                 // false: a new process for every schedule
  bool budget_is_guess = false;         // a hang must hold with many times the plan's budget
  bool keep_passing = true;             // look for a passing schedule close to the failing one
  Criteria criteria;
};

struct FoundFailure {
  Failure failure;
  int exit_status = 0;
  std::uint64_t count = 0;
  std::uint64_t first_schedule = 0;        // from 1
  std::optional<std::uint64_t> recording;  // nothing: it did not come again in a run of its own
};

struct HuntStatus {
  std::uint64_t schedules = 0;
  double seconds = 0;
  std::uint64_t interleavings = 0;  // distinct
  std::string strategy;             // in use at the moment
  std::string stage;                // "hunting", "looking for a passing schedule close by", ...
  std::vector<FoundFailure> failures;
  std::optional<double> seconds_left;
};

class HuntObserver {
 public:
  virtual ~HuntObserver() = default;
  // Several times a second.
  virtual void status(const HuntStatus& status) = 0;
  // A failure that was not seen before, just recorded.
  virtual void found(const FoundFailure& failure) = 0;
};

struct HuntResult {
  std::uint64_t schedules = 0;
  std::uint64_t unresolved = 0;  // of them: neither passed nor failed
  double seconds = 0;
  std::uint64_t interleavings = 0;
  std::string strategy;
  std::uint64_t seed = 0;
  std::vector<FoundFailure> failures;           // in the order found
  std::optional<std::uint64_t> failing;         // recording of the first
  std::optional<std::uint64_t> passing;         // recording of a passing one close to it
  std::optional<std::string> passing_distance;  // "differs in 1 switch", for people
  std::optional<std::string> conclusion;        // of an exhaustive search
  bool looked_for_passing = false;              // and not for a failure
  bool complete = false;                        // the search was over before the limits
  int interrupted_by = 0;                       // a signal, or 0
  std::vector<std::string> notes;               // "runs start anew for each schedule, because ..."
};

// Errors are faults of the set-up or of the machine. A program that never fails is a result.
[[nodiscard]] Result<HuntResult> hunt(const HuntOptions& options, RecordingStore& store,
                                      HuntObserver& observer);

// The names that `strategy` takes, the default first.
[[nodiscard]] const std::vector<std::string>& strategy_names();

}  // namespace clew

#endif  // CLEW_HOST_SEARCH_HUNT_H_
