// Isolation: from a failing schedule and a passing one to the thread switches that matter (Choi and
// Zeller 2002, section 4), with what a person needs to understand them.
#ifndef CLEW_HOST_ISOLATE_ISOLATE_H_
#define CLEW_HOST_ISOLATE_ISOLATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "host/error.h"
#include "host/isolate/isolate_result.h"
#include "host/recording/recording.h"
#include "host/search/criteria.h"
#include "host/target/launch_plan.h"

namespace clew {

struct IsolateOptions {
  std::string failing;                 // recording; empty: the newest that failed
  std::optional<std::string> passing;  // recording; nothing: clew looks for one
  // What to run. Then `failing` and `passing` are schedules, as text or as the name of a file;
  // otherwise the recordings say.
  std::optional<LaunchPlan> program;
  bool simplify = false;
  bool any_failure = false;  // other failures count as the failure; otherwise as unresolved
  bool checkpoints = true;
  unsigned jobs = 0;        // 0: as many as there are cores
  std::uint64_t tests = 0;  // at most; 0: no limit
  double seconds = 0;       // likewise
  std::uint64_t seed = 1;   // of the search for a passing schedule
  double sigma = 0.5;       // about how far it moves switches at first, in events
  Criteria criteria;        // what counts as a failure
};

class IsolateObserver {
 public:
  virtual ~IsolateObserver() = default;
  virtual void status(const IsolateStatus& status) = 0;  // several times a second
};

// Errors are faults of the set-up, of the machine, or of what was given (kBadInput: not a failing
// recording, or it does not fail again).
[[nodiscard]] Result<IsolateResult> isolate(const IsolateOptions& options, RecordingStore& store,
                                            IsolateObserver& observer);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_ISOLATE_H_
