// A simpler failing script than one that was simplified, from other failing runs.
//
// What simplifying leaves depends on the run that the hunt happened to find. The same failure is
// sampled again, by strategies that preempt little, and the runs with the fewest preemptions are
// simplified in their turn.
#ifndef CLEW_HOST_ISOLATE_RESAMPLE_H_
#define CLEW_HOST_ISOLATE_RESAMPLE_H_

#include <cstdint>
#include <optional>

#include "host/error.h"
#include "host/isolate/fewer.h"
#include "host/isolate/script.h"
#include "host/isolate/trials.h"

namespace clew {

// Whether it has fewer items, or as many and fewer preemptions among them.
[[nodiscard]] bool is_simpler(const ThreadScript& a, const ThreadScript& b);

// Nothing: none was found, or stopped. REQUIRES: the script fails.
[[nodiscard]] Result<std::optional<ThreadScript>> simpler_elsewhere(Trials& trials,
                                                                    const ThreadScript& script,
                                                                    std::uint64_t seed,
                                                                    const ToScript& to_script);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_RESAMPLE_H_
