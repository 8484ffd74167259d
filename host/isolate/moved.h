// A failing script with one item fewer than one that was simplified, in which another item is elsewhere.
//
// Of a script that ddmin leaves no item can be taken away as it stands. But the search may have
// preempted a thread a little early, so that a further switch was needed to make up for it. So each
// item is left out in turn while one of the preemptions that stay is moved along its thread, to where
// the thread's steps conflict with those of others; the nearest places first.
#ifndef CLEW_HOST_ISOLATE_MOVED_H_
#define CLEW_HOST_ISOLATE_MOVED_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "host/error.h"
#include "host/isolate/script.h"
#include "host/isolate/trials.h"
#include "host/trace/trace.h"

namespace clew {

// The scripts that are tried, in this order, at most `most`. `trace`: what the threads did under the
// script.
[[nodiscard]] std::vector<ThreadScript> moved(const ThreadScript& script,
                                              std::span<const TraceStep> trace, std::size_t most);

// Nothing: none of them fails, or it was stopped. REQUIRES: the script fails.
[[nodiscard]] Result<std::optional<ThreadScript>> one_fewer_by_moving(Trials& trials,
                                                                      const ThreadScript& script);

}  // namespace clew

#endif  // CLEW_HOST_ISOLATE_MOVED_H_
