// One run of a program under test, from start to outcome.
#ifndef CLEW_HOST_TARGET_RUN_TARGET_H_
#define CLEW_HOST_TARGET_RUN_TARGET_H_

#include <sys/types.h>

#include <cstdint>

#include "host/error.h"
#include "host/recording/recording.h"
#include "host/target/descendants.h"
#include "host/target/input_feed.h"
#include "host/target/launch_plan.h"
#include "host/target/run_result.h"

namespace clew {

// Told about a run while it goes on.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Now and then.
  virtual void progress(std::uint64_t clock, double seconds);
  // Whether the run has taken long enough, and is to be ended like one that is interrupted.
  [[nodiscard]] virtual bool time_is_up();
  // Something of the program's own is about to appear on clew's output.
  virtual void before_output();
  // Once the runtime is in charge. A descriptor (a pidfd) whose end ends the run: with one, nothing
  // else does but the program itself (--gdb). -1: none. An error ends the run at once.
  [[nodiscard]] virtual Result<int> attached(pid_t pid);
};

// Runs the program until it ends, or has to be ended. With a draft, schedule, output and
// input are recorded in it; committing is left to the caller. Errors are faults of the set-up or
// of the machine; whatever the program does is a result. With `descendants`, its child processes
// are recorded too.
[[nodiscard]] Result<RunResult> run_target(const LaunchPlan& plan, InputFeed input,
                                           const Draft* draft, RunObserver& observer,
                                           Descendants* descendants = nullptr);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_RUN_TARGET_H_
