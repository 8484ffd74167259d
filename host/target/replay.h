// Full replay (Choi and Zeller 2002, section 3): a recording is run again and compared.
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

// The same program under the same schedule, but with current input (Choi and Zeller 2002, section
// 3).
LaunchPlan live_plan(const Replay& replay);

// Fails for a recording of a copy made by fork(), because only a replay reaches the fork in the
// same way. To be called before a program is run live under schedules.
[[nodiscard]] Result<void> check_runs_live(const Recording& recording);

// A run that was ended by clew or by a signal from outside did not report its end: it is replayed
// up to the same clock.
bool was_interrupted(const Meta& meta);

// How the run differs from the recorded one, a line for each difference. Empty: the same outcome,
// output and hash.
std::vector<std::string> differences(const Meta& recorded, const RunResult& run);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_REPLAY_H_
