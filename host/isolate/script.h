// Scripts: schedules whose items are found by the thread that runs and by its own events, not by
// the clock (runtime/strategy/script.h). When one item is taken away the others keep their meaning;
// in a schedule by the clock all later ones would move.
#ifndef CLEW_HOST_ISOLATE_SCRIPT_H_
#define CLEW_HOST_ISOLATE_SCRIPT_H_

#include <cstddef>
#include <vector>

#include "clew_abi/job.h"
#include "host/search/guides.h"
#include "host/target/job_plan.h"

namespace clew {

using ThreadScript = std::vector<ScriptItem>;

[[nodiscard]] bool is_preemption(const ScriptItem& item);
[[nodiscard]] std::size_t preemptions_of(const ThreadScript& script);

// `flags`: abi::JobFlags.
[[nodiscard]] JobPlan job_of(const ThreadScript& script, std::uint32_t flags = 0);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_SCRIPT_H_
