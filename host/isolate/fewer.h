// A failing script with fewer preemptions than one that was simplified.
//
// Taking items away leaves what the search happened to find: it may get to the failure by a detour
// where one switch in the right place would do. So other scripts are tried that are made of what is
// known: the places where this one preempts, in this thread and in those that may run the same
// code, with each thread as the target. Then, if the program is small, all schedules with fewer
// preemptions.
#ifndef CLEW_HOST_ISOLATE_FEWER_H_
#define CLEW_HOST_ISOLATE_FEWER_H_

#include <functional>
#include <optional>

#include "host/error.h"
#include "host/isolate/script.h"
#include "host/isolate/trials.h"

namespace clew {

// Scripts with `count` preemptions made of those of `script`, at most `most`. `threads`: how many
// the program has.
[[nodiscard]] std::vector<ThreadScript> recombined(const ThreadScript& script, std::size_t count,
                                                   std::uint32_t threads, std::size_t most);

// Where a thread is preempted before a call in which it would have waited anyway, it may as well
// wait, and the choice be who runs then: that is no preemption. REQUIRES: the script fails.
[[nodiscard]] Result<ThreadScript> with_waits(Trials& trials, ThreadScript script);

// The first script whose run has the verdict, of those that `make` gives for 0 to `count` - 1 (nothing:
// there is none for this number). A few are made at a time: without each of its items in turn a script of
// thousands takes gigabytes.
using MakeScript = std::function<std::optional<ThreadScript>(std::size_t number)>;
[[nodiscard]] Result<std::optional<ThreadScript>> first_with(Trials& trials, Verdict verdict,
                                                             std::size_t count,
                                                             const MakeScript& make);

// A run of a job as a script; nothing if it did not fail when run again.
using ToScript = std::function<Result<std::optional<ThreadScript>>(const JobPlan& plan)>;

// The position of the first script that fails; nothing: none does, within these seconds, or stopped.
[[nodiscard]] Result<std::optional<std::size_t>> first_failing(
    Trials& trials, const std::vector<ThreadScript>& scripts, double seconds);

struct Fewer {
  std::optional<ThreadScript> script;
  bool none = false;  // all schedules with fewer preemptions pass
};
// REQUIRES: the script fails; it has at least one preemption.
[[nodiscard]] Result<Fewer> look_for_fewer(Trials& trials, const ThreadScript& script,
                                           const ToScript& to_script);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_FEWER_H_
