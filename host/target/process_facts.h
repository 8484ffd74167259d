// What a process that clew did not start was started with, from /proc.
#ifndef CLEW_HOST_TARGET_PROCESS_FACTS_H_
#define CLEW_HOST_TARGET_PROCESS_FACTS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "host/target/launch_plan.h"

namespace clew {

// Program, arguments, environment, folder, stack limit and signals; `flags` are those that
// it gets (abi::ControlFlags); the rest has defaults. Empty if
// a replay could not start it the same way: it is gone, its addresses are random, its file was
// removed, or `started_as` is a name for a descriptor.
std::optional<LaunchPlan> plan_of_process(pid_t pid, const std::string& started_as,
                                          std::uint32_t flags);

// The soft limit of the line "Max stack size" of /proc/PID/limits.
std::optional<std::uint64_t> parse_stack_limit(std::string_view limits);
// The set in a line such as "SigBlk:\t0000000000010000" of /proc/PID/status.
std::optional<std::uint64_t> parse_signal_set(std::string_view status, std::string_view name);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_PROCESS_FACTS_H_
