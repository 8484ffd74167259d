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

// Is notified about a run while it is under way.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Called from time to time.
  virtual void progress(std::uint64_t clock, double seconds);
  // Whether the run has reached its time limit, and must be ended like one that is interrupted.
  [[nodiscard]] virtual bool time_is_up();
  // Output of the program is about to appear on clew's own output.
  virtual void before_output();
  // Called once the runtime is in control. Returns a descriptor that ends the run when it becomes
  // readable: with one, only it and the program itself end the run (--gdb). -1: none. An error ends
  // the run at once.
  [[nodiscard]] virtual Result<int> attached(pid_t pid);
};

// Runs the program until it ends or must be ended. With a draft, schedule, output and
// input are recorded in it; committing is left to the caller. Errors are faults of the set-up or
// of the machine; whatever the program does is a result. With `descendants`, its child processes
// are recorded too.
[[nodiscard]] Result<RunResult> run_target(const LaunchPlan& plan, InputFeed input,
                                           const Draft* draft, RunObserver& observer,
                                           Descendants* descendants = nullptr);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_RUN_TARGET_H_
