// The exit status of clew itself (docs/exit-status.md).
#ifndef CLEW_HOST_TARGET_EXIT_STATUS_H_
#define CLEW_HOST_TARGET_EXIT_STATUS_H_

#include "host/error.h"
#include "host/target/run_result.h"

namespace clew {

inline constexpr int kExitDeadlock = 120;
inline constexpr int kExitHang = 121;
inline constexpr int kExitUnresolved = 122;
inline constexpr int kExitDeparted = 123;
inline constexpr int kExitUsage = 124;
inline constexpr int kExitBadInput = 125;
inline constexpr int kExitInternal = 126;

// The program's own where it has one.
int exit_status_of(const RunResult& result);
int exit_status_of(const Error& error);

}  // namespace clew

#endif  // CLEW_HOST_TARGET_EXIT_STATUS_H_
