// Full replay (paper 1, section 3): a recording run again, and whether it was the same.
#ifndef CLEW_HOST_TARGET_REPLAY_H_
#define CLEW_HOST_TARGET_REPLAY_H_

#include <string>
#include <vector>

#include "host/error.h"
#include "host/recording/recording.h"
#include "host/target/launch_plan.h"
#include "host/target/run_result.h"
#include "host/target/run_target.h"

namespace clew {

struct Replay {
  Recording recording;
  LaunchPlan plan;
};

// Loads the recording (empty: the newest) and makes sure that its program is still the one that
// was recorded.
[[nodiscard]] Result<Replay> prepare_replay(const std::string& selector);

[[nodiscard]] Result<RunResult> run_replay(const Replay& replay, RunObserver& observer);

// The same program under the same schedule, but with the input of today (paper 1, section 3).
LaunchPlan live_plan(const Replay& replay);

// Fails for a recording of a copy made by fork(): only a replay has its way to the fork. For what
// runs the program live, by schedules.
[[nodiscard]] Result<void> check_runs_live(const Recording& recording);

// A run that clew ended, or a signal from outside, did not tell its end: it is replayed up to the
// same clock.
bool was_interrupted(const Meta& meta);

// In what the run differs from the recorded one, a line each. Empty: the same outcome, output and
// hash.
std::vector<std::string> differences(const Meta& recorded, const RunResult& run);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_REPLAY_H_
